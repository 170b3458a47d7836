// The moves of a SimWorld. Included by sim_world.h.
#pragma once

#include "sim/sim_world.h"

namespace hourfold::test {

inline SimTemper SimTemper::draw(Random& random) {
  SimTemper temper;
  temper.log.dedup = random.chance(.85);
  temper.log.one_device_a_record = random.chance(.5);
  temper.log.late = random.pick({.1, .3, .8, 1.});
  temper.log.late_hours = random.pick({2, 3, 6});
  temper.log.wide = random.chance(.06);
  temper.log.markers = random.chance(.3);
  temper.hosts = random.pick<std::size_t>({1, 2, 2, 3, 4});
  temper.actions = static_cast<int>(random.between(150, 700));
  temper.disk_loss = random.pick({0., 0., .3, .8});
  temper.truncates = random.chance(.4);
  temper.loses_metadata = random.chance(.3);
  temper.poison = random.chance(.1);
  temper.turmoil = random.pick({.01, .03, .08});
  temper.trouble = random.pick({.1, .4, 1.});
  WorkerSettings& settings = temper.settings;
  settings.topic = "telemetry";
  settings.partition = kSimPartition;
  settings.deduplicate = temper.log.dedup;
  settings.check_keys = temper.log.one_device_a_record;
  settings.policy = {kSimMaxFuture, kSimMaxAge};
  settings.emit = {random.pick<std::int64_t>({2'000, 60'000}), random.pick<std::int64_t>({500, 5'000}),
                   1'000};
  settings.layout = random.chance(.8) ? RowLayout::kWide : RowLayout::kPacked;
  settings.buckets = random.pick<std::uint32_t>({1, 2, 32});
  settings.checkpoint_ms = random.pick<std::int64_t>({3'000, 60'000, 10 * kHourMs});
  settings.retention_ms = random.between(1, 2) * kHourMs;
  if (random.chance(.4)) settings.memory_bytes = 4'000;
  if (random.chance(.3)) settings.max_outbox = 3;
  if (random.chance(.25)) temper.make_all_late(random);
  return temper;
}

// Every reading is for an hour that has expired, hours pass quickly, and whoever takes over has nothing but
// the table and the commit: what the commit says of hours decides.
inline void SimTemper::make_all_late(Random& random) {
  log.late = 1;
  log.late_hours = 6;
  log.wide = false;
  actions = 800;
  brisk = true;
  hosts = 3;
  disk_loss = .8;
  turmoil = random.pick({.03, .06});
  trouble = .4;
  settings.emit = {2'000, 500, 1'000};
  settings.checkpoint_ms = 3'000;
  settings.retention_ms = kHourMs;
}

inline SimWorker* SimWorld::owner() {
  for (const auto& worker : workers_) {
    if (worker->epoch == group_.epoch()) return worker.get();
  }
  return nullptr;
}

inline Result<StartPlan> SimWorld::plan(const WindowStore& store) const {
  StartFacts facts;
  facts.topic = temper_.settings.topic;
  facts.partition = kSimPartition;
  facts.partition_count = 8;
  auto marks = store.marks();
  if (!marks) return marks.error();
  if (*marks) {
    auto read = read_state_marks(**marks);
    if (!read) return read.error();
    facts.disk = std::move(*read);
  }
  facts.committed = group_.committed();
  facts.log = {log_.first(), log_.end()};
  facts.table_empty = table_.empty();
  facts.fingerprint = "00000000deadbeef";
  return plan_start(facts);
}

inline bool SimWorld::start(SimWorker& worker) {
  std::string notice;
  MemoryStores& stores = hosts_[worker.host]->stores;
  auto opened = stores.open(kSimPartition, notice);
  if (!opened) return false;
  worker.store = std::move(*opened);
  auto plan = this->plan(*worker.store);
  if (!plan) {
    findings_.add("stopped", plan.error().message);
    return false;
  }
  for (const std::string& text : plan->notices) say(text);
  if (plan->state == StartPlan::State::kSetAside) {
    worker.store.reset();
    if (!stores.set_aside(kSimPartition, "test")) return false;
    worker.store = std::move(*stores.open(kSimPartition, notice));
  }
  if (plan->commit_first) (void)group_.commit(worker.epoch, *plan->commit_first);
  worker.sink = std::make_unique<SimSinkQueue>(net_, worker.id);
  worker.side = std::make_unique<SimSideOutput>(random_, topics_, 1 + random_.below(6));
  auto started = PartitionWorker::open(temper_.settings, std::move(*plan), *worker.store, *worker.sink,
                                       *worker.side, wall());
  if (!started) {
    findings_.add("stopped", started.error().message);
    return false;
  }
  worker.worker = std::move(*started);
  return true;
}

inline void SimWorld::take_over(std::size_t host) {
  for (const auto& worker : workers_) {
    if (worker->host == host) {
      end(*worker, false);
      break;
    }
  }
  if (random_.chance(temper_.disk_loss)) (void)hosts_[host]->stores.set_aside(kSimPartition, "a new volume");
  auto worker = std::make_unique<SimWorker>();
  worker->id = next_id_++;
  worker->host = host;
  worker->epoch = group_.begin_epoch();
  say("host " + std::to_string(host) + " takes the partition, epoch " + std::to_string(worker->epoch));
  if (!start(*worker)) return;
  worker->restored = worker->worker->counters().outbox.get();
  note(*worker, {});
  workers_.push_back(std::move(worker));
}

// The worker ends: by itself, with or without a last checkpoint, or with its process.
inline void SimWorld::end(SimWorker& worker, bool crash) {
  say("worker " + std::to_string(worker.id) + (crash ? " crashes" : " ends"));
  if (crash) {
    MemoryStores& stores = hosts_[worker.host]->stores;
    stores.crash(kSimPartition, random_.below(stores.unsynced(kSimPartition) + 1));
  } else if (random_.chance(.5)) {
    (void)worker.worker->checkpoint(wall());
  }
  std::erase_if(workers_, [&](const auto& one) { return one.get() == &worker; });
}

inline void SimWorld::crash(std::size_t host) {
  for (const auto& worker : workers_) {
    if (worker->host == host) {
      end(*worker, true);
      break;
    }
  }
  if (temper_.disk_loss == 0) return;
  SimHost& disk = *hosts_[host];
  if (random_.chance(temper_.disk_loss)) {
    say("the disk of host " + std::to_string(host) + " is lost");
    (void)disk.stores.set_aside(kSimPartition, "lost");
  } else if (random_.chance(.3) && !disk.snapshots.empty()) {
    say("an old disk comes back to host " + std::to_string(host));
    disk.stores.restore(kSimPartition, random_.pick(disk.snapshots));
  }
}

inline void SimWorld::act() {
  if (random_.chance(.25)) now_ += random_.between(1, random_.chance(.2) ? 40'000 : 900);
  if (random_.chance(temper_.turmoil)) return act_on_world();
  if (random_.chance(.02)) return calm_moment();
  const std::size_t what = random_.below(92);
  if (what < 13) {
    now_ += random_.between(0, random_.chance(temper_.brisk ? .2 : .7) ? 60'000 : 40 * 60'000);
    log_.produce(now_);
  } else if (what < 40) {
    net_.mishap();
  } else if (workers_.empty()) {
    take_over(random_.below(hosts_.size()));
  } else {
    act_on(*workers_[random_.below(workers_.size())]);
  }
}

// The owner gets along for once, so that there is something to lose.
inline void SimWorld::calm_moment() {
  SimWorker* worker = owner();
  if (!worker || net_.down) return;
  net_.trouble = 0;
  for (int i = 0; i < 3 && findings_.empty(); ++i) {
    poll(*worker, 3);
    worker = owner();
    if (!worker) break;
    now_ += 3'000;
    worker->side->settle();
    note(*worker, worker->worker->step(wall()));
    for (int k = 0; k < 8; ++k) net_.mishap();
    note(*worker, worker->worker->step(wall()));
    send_commit(*worker);
    deliver_commit(*worker);
  }
  net_.trouble = temper_.trouble;
}

inline void SimWorld::act_on(SimWorker& worker) {
  const std::size_t what = random_.below(56);
  if (what < 17) {
    poll(worker, 1 + random_.below(3));
  } else if (what < 32) {
    note(worker, worker.worker->step(wall()));
  } else if (what < 37) {
    if (!sides_down_) worker.side->mishap();
  } else if (what < 39) {
    note(worker, worker.worker->checkpoint(wall()));
  } else if (what < 41) {
    (void)worker.store->sync();
    SimHost& host = *hosts_[worker.host];
    host.snapshots.push_back(host.stores.durable_copy(kSimPartition));
  } else if (what < 46) {
    send_commit(worker);
  } else if (what < 52) {
    deliver_commit(worker);
  } else if (what < 54) {
    worker.worker->hurry();
  } else if (worker.epoch != group_.epoch()) {
    end(worker, false);
  }
}

inline void SimWorld::act_on_world() {
  const std::size_t what = random_.below(20);
  if (what < 3) {
    take_over(random_.below(hosts_.size()));
  } else if (what < 6) {
    const std::size_t host = random_.below(hosts_.size());
    crash(host);
    if (!owner() && random_.chance(.7)) take_over(random_.chance(.6) ? host : random_.below(hosts_.size()));
  } else if (what < 8) {
    net_.down = !net_.down && random_.chance(.3);
    sides_down_ = !sides_down_ && random_.chance(.3);
  } else if (what < 10 && temper_.truncates && group_.committed()) {
    log_.truncate({std::max<std::int64_t>(0, group_.committed()->next.value - random_.between(0, 3))});
  } else if (what < 13 && temper_.loses_metadata && group_.committed() &&
             group_.committed()->next.value > 0) {
    // Before the owner commits again and sets it right.
    say("the commit's metadata is lost");
    group_.lose_metadata();
    const std::size_t host = random_.below(hosts_.size());
    crash(host);
    take_over(host);
  } else if (what < 15) {
    now_ += random_.between(0, kHourMs);
  } else if (what < 16) {
    skew_ = random_.between(-30, 30) * kHourMs;
    say("the hosts' clock jumps");
  }
}

inline void SimWorld::poll(SimWorker& worker, std::size_t records) {
  if (worker.worker->next_offset() < log_.first() && worker.worker->next_offset() < log_.end()) {
    // Out of range: the owner starts again, a stale one stops.
    const std::size_t host = worker.host;
    if (worker.epoch == group_.epoch()) {
      take_over(host);
    } else {
      end(worker, false);
    }
    return;
  }
  auto read = worker.poll(log_, records, wall());
  say("worker " + std::to_string(worker.id) + " read to " +
      std::to_string(worker.worker->next_offset().value));
  note(worker, read ? Result<void>() : Result<void>(read.error()));
}

inline void SimWorld::note(SimWorker& worker, const Result<void>& outcome) {
  if (!outcome) findings_.add("stopped", outcome.error().message);
  if (const auto doubted = worker.worker->doubted(); doubted && random_.chance(.5)) {
    const auto same = worker.worker->log_ends_at(log_.end(), *doubted);
    if (!same) findings_.add("stopped", same.error().message);
  }
  if (const std::string wrong = worker.books(); !wrong.empty()) findings_.add("books", wrong);
  // One poll of at most 3 records of at most 4 readings may pass the bound.
  const WorkerCounters& counters = worker.worker->counters();
  if (counters.outbox.get() > std::max<std::uint64_t>(temper_.settings.max_outbox, worker.restored) + 12) {
    findings_.add("bound", "the outbox grows past its bound");
  }
}

inline void SimWorld::send_commit(SimWorker& worker) {
  if (worker.commit.in_flight) return;
  const auto due = worker.worker->commit_due();
  if (!due) return;
  worker.commit = {*due, true};
}

inline void SimWorld::deliver_commit(SimWorker& worker) {
  if (!worker.commit.in_flight) return;
  worker.commit.in_flight = false;
  if (random_.chance(.1)) return;  // never arrived
  if (!group_.commit(worker.epoch, worker.commit.offset)) return;
  say("committed " + std::to_string(worker.commit.offset.next.value) + " " + worker.commit.offset.metadata);
  check_safe(worker.commit.offset);
  if (random_.chance(.9)) worker.worker->committed(worker.commit.offset.next);
}

}  // namespace hourfold::test
