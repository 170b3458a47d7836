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
  temper.any = random.chance(.15);
  temper.grows = !temper.any && random.chance(.5);
  settings.may_grow = temper.grows || random.chance(.5);
  if (temper.grows) temper.make_growing(random);
  if (temper.any) temper.partitions = random.pick<std::size_t>({1, 2, 3});
  if (random.chance(.25)) temper.make_all_late(random);
  return temper;
}

// Owners that hear late of the growth, and others that take over from them without hearing more: few devices
// and hours, so that the partitions meet in the same rows.
inline void SimTemper::make_growing(Random& random) {
  hearing = random.pick({.03, .1, .5});
  if (random.chance(.2)) return;
  log.late = .1;
  log.late_hours = 2;
  log.wide = false;
  poison = false;
  hosts = 3;
  disk_loss = random.pick({.3, .8});
  turmoil = random.pick({.05, .1});
  trouble = random.pick({.05, .3});
  settings.emit = {2'000, 500, 1'000};
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

inline SimWorker* SimWorld::owner(const SimPartition& partition) {
  for (const auto& worker : workers_) {
    if (worker->partition == &partition && worker->owns()) return worker.get();
  }
  return nullptr;
}

inline void SimWorld::add_partition() {
  const PartitionId id{kSimPartition.value + static_cast<std::int32_t>(partitions_.size())};
  partitions_.push_back(std::make_unique<SimPartition>(id, random_, temper_.log, findings_));
}

// A process that runs learns of new partitions by asking, or because it gets one of them.
inline void SimWorld::start_process(SimHost& host, const SimPartition& partition) {
  const auto index = static_cast<std::size_t>(partition.id.value - kSimPartition.value);
  if (index < host.known_partitions) return;
  host.known_partitions = partitions_.size();
  if (noted_partitions_ != 0 && noted_partitions_ < partitions_.size()) several_ = true;
  noted_partitions_ = partitions_.size();
  host.shares_rows = several_;
}

inline Result<StartPlan> SimWorld::plan(const SimPartition& partition, const WindowStore& store,
                                        std::size_t count) const {
  StartFacts facts;
  facts.topic = temper_.settings.topic;
  facts.partition = partition.id;
  facts.partition_count = static_cast<std::int32_t>(count);
  auto marks = store.marks();
  if (!marks) return marks.error();
  if (*marks) {
    auto read = read_state_marks(**marks);
    if (!read) return read.error();
    facts.disk = std::move(*read);
  }
  facts.committed = partition.group.committed();
  facts.log = {partition.log.first(), partition.log.end()};
  facts.table_empty = table_.empty();
  facts.fingerprint = "00000000deadbeef";
  // As a service does that is told of more partitions than it knows.
  if (partitions_noted(facts) > facts.partition_count) return unavailable("ask first");
  return plan_start(facts);
}

inline bool SimWorld::start(SimWorker& worker) {
  SimPartition& partition = *worker.partition;
  std::string notice;
  MemoryStores& stores = hosts_[worker.host]->stores;
  auto opened = stores.open(partition.id, notice);
  if (!opened) return false;
  worker.store = std::move(*opened);
  SimHost& host = *hosts_[worker.host];
  start_process(host, partition);
  auto plan = this->plan(partition, *worker.store, host.known_partitions);
  if (!plan && plan.error().kind == ErrorKind::kUnavailable) {
    host.known_partitions = 0;
    start_process(host, partition);
    plan = this->plan(partition, *worker.store, host.known_partitions);
  }
  if (!plan) {
    findings_.add("stopped", plan.error().message);
    return false;
  }
  for (const std::string& text : plan->notices) say(text);
  if (plan->grown) several_ = host.shares_rows = true;
  if (plan->state == StartPlan::State::kSetAside) {
    worker.store.reset();
    if (!stores.set_aside(partition.id, "test")) return false;
    worker.store = std::move(*stores.open(partition.id, notice));
  }
  if (plan->commit_first) (void)partition.group.commit(worker.epoch, *plan->commit_first);
  worker.sink = std::make_unique<SimSinkQueue>(net_, worker.id);
  worker.side = std::make_unique<SimSideOutput>(random_, partition.topics, 1 + random_.below(6));
  WorkerSettings settings = temper_.settings;
  settings.partition = partition.id;
  if (host.shares_rows) settings.shared = shared_rows();
  auto started =
      PartitionWorker::open(settings, std::move(*plan), *worker.store, *worker.sink, *worker.side, wall());
  if (!started) {
    findings_.add("stopped", started.error().message);
    return false;
  }
  worker.worker = std::move(*started);
  return true;
}

inline void SimWorld::take_over(SimPartition& partition, std::size_t host) {
  for (const auto& worker : workers_) {
    if (worker->host == host && worker->partition == &partition) {
      end(*worker, false);
      break;
    }
  }
  if (random_.chance(temper_.disk_loss)) (void)hosts_[host]->stores.set_aside(partition.id, "a new volume");
  auto worker = std::make_unique<SimWorker>();
  worker->id = next_id_++;
  worker->host = host;
  worker->partition = &partition;
  worker->epoch = partition.group.begin_epoch();
  say("host " + std::to_string(host) + " takes partition " + std::to_string(partition.id.value) + ", epoch " +
      std::to_string(worker->epoch));
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
    stores.crash(worker.partition->id, random_.below(stores.unsynced(worker.partition->id) + 1));
  } else if (random_.chance(.5)) {
    (void)worker.worker->checkpoint(wall());
  }
  std::erase_if(workers_, [&](const auto& one) { return one.get() == &worker; });
}

inline void SimWorld::crash(std::size_t host) {
  for (std::size_t i = workers_.size(); i-- > 0;) {
    if (workers_[i]->host == host) end(*workers_[i], true);
  }
  hosts_[host]->known_partitions = 0;
  if (temper_.disk_loss == 0) return;
  SimHost& disk = *hosts_[host];
  const bool lost = random_.chance(temper_.disk_loss);
  for (const auto& partition : partitions_) {
    auto& snapshots = disk.snapshots[partition->id];
    if (lost) {
      say("the disk of host " + std::to_string(host) + " is lost");
      (void)disk.stores.set_aside(partition->id, "lost");
    } else if (random_.chance(.3) && !snapshots.empty()) {
      say("an old disk comes back to host " + std::to_string(host));
      disk.stores.restore(partition->id, random_.pick(snapshots));
    }
  }
}

inline void SimWorld::act() {
  if (random_.chance(.25)) now_ += random_.between(1, random_.chance(.2) ? 40'000 : 900);
  if (random_.chance(temper_.turmoil)) return act_on_world();
  if (random_.chance(.02)) return calm_moment();
  const std::size_t what = random_.below(92);
  if (what < 13) {
    now_ += random_.between(0, random_.chance(temper_.brisk ? .2 : .7) ? 60'000 : 40 * 60'000);
    any_partition().log.produce(now_);
  } else if (what < 40) {
    net_.mishap();
  } else if (workers_.empty()) {
    take_over(any_partition(), random_.below(hosts_.size()));
  } else {
    act_on(*workers_[random_.below(workers_.size())]);
  }
}

// The owner gets along for once, so that there is something to lose.
inline void SimWorld::calm_moment() {
  SimPartition& partition = any_partition();
  SimWorker* worker = owner(partition);
  if (!worker || net_.down) return;
  net_.trouble = 0;
  for (int i = 0; i < 3 && findings_.empty(); ++i) {
    poll(*worker, 3);
    worker = owner(partition);
    if (!worker) break;
    now_ += 3'000;
    worker->side->settle();
    note(*worker, worker->worker->step(wall()));
    for (int k = 0; k < 16; ++k) net_.mishap();
    note(*worker, worker->worker->step(wall()));
    ask_partitions(*worker);
    if (random_.chance(temper_.hearing)) hear_partitions(*worker);
    send_commit(*worker);
    deliver_commit(*worker);
  }
  net_.trouble = temper_.trouble;
}

inline void SimWorld::act_on(SimWorker& worker) {
  const std::size_t what = random_.below(62);
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
    host.snapshots[worker.partition->id].push_back(host.stores.durable_copy(worker.partition->id));
  } else if (what < 46) {
    send_commit(worker);
  } else if (what < 52) {
    deliver_commit(worker);
  } else if (what < 54) {
    worker.worker->hurry();
  } else if (what < 57) {
    ask_partitions(worker);
  } else if (what < 60) {
    if (random_.chance(temper_.hearing)) hear_partitions(worker);
  } else if (!worker.owns()) {
    end(worker, false);
  }
}

// From an owner that ends to a process that runs and has not heard of the growth.
inline void SimWorld::hand_to_ignorant(SimPartition& partition) {
  const SimWorker* before = owner(partition);
  for (std::size_t host = 0; before && host < hosts_.size(); ++host) {
    const std::size_t known = hosts_[host]->known_partitions;
    if (host == before->host || known == 0 || known == partitions_.size()) continue;
    if (random_.chance(.5)) crash(before->host);
    return take_over(partition, host);
  }
}

// Its readings come to the new partition's owner at once, and to the old ones' ears some time.
inline void SimWorld::grow() {
  add_partition();
  say("the topic grows to " + std::to_string(partitions_.size()) + " partitions");
  if (random_.chance(.8)) take_over(*partitions_.back(), random_.below(hosts_.size()));
}

inline void SimWorld::ask_partitions(SimWorker& worker) const {
  if (!worker.asked) worker.asked = {worker.worker->acknowledgements(), partitions_.size()};
}

// The answer to what was asked, or the table says it.
inline void SimWorld::hear_partitions(SimWorker& worker) {
  SimHost& host = *hosts_[worker.host];
  const std::size_t counted = !worker.asked        ? host.known_partitions
                              : random_.chance(.5) ? worker.asked->answer
                                                   : partitions_.size();
  const bool grown = host.known_partitions < counted;
  if (grown) {
    several_ = true;
    host.known_partitions = counted;
    noted_partitions_ = std::max(noted_partitions_, counted);
  }
  if (several_) {
    host.shares_rows = true;
    for (const auto& one : workers_) {
      if (one->host == worker.host)
        one->worker->share(shared_rows(), static_cast<std::int32_t>(host.known_partitions), wall());
    }
  }
  if (worker.asked && !grown) worker.worker->prove(worker.asked->acknowledgements);
  worker.asked.reset();
}

inline void SimWorld::act_on_world() {
  const std::size_t what = random_.below(24);
  const std::size_t host = random_.below(hosts_.size());
  SimPartition& partition = any_partition();
  SimGroup& group = partition.group;
  if (what < 3) {
    take_over(partition, host);
  } else if (what < 6) {
    crash(host);
    for (const auto& one : partitions_) {
      if (!owner(*one) && random_.chance(.7))
        take_over(*one, random_.chance(.6) ? host : random_.below(hosts_.size()));
    }
  } else if (what < 8) {
    net_.down = !net_.down && random_.chance(.3);
    sides_down_ = !sides_down_ && random_.chance(.3);
  } else if (what < 10 && temper_.truncates && group.committed()) {
    partition.log.truncate(
        {std::max<std::int64_t>(0, group.committed()->next.value - random_.between(0, 3))});
  } else if (what < 13 && temper_.loses_metadata && group.committed() && group.committed()->next.value > 0) {
    // Before the owner commits again and sets it right.
    say("the commit's metadata is lost");
    group.lose_metadata();
    crash(host);
    take_over(partition, host);
  } else if (what < 15) {
    now_ += random_.between(0, kHourMs);
  } else if (what < 16) {
    skew_ = random_.between(-30, 30) * kHourMs;
    say("the hosts' clock jumps");
  } else if (what < 20 && temper_.grows && partitions_.size() < 3) {
    grow();
  } else if (what < 23 && partitions_.size() > temper_.partitions) {
    hand_to_ignorant(partition);
  }
}

inline void SimWorld::poll(SimWorker& worker, std::size_t records) {
  const SimLog& log = worker.partition->log;
  if (worker.worker->next_offset() < log.first() && worker.worker->next_offset() < log.end()) {
    // Out of range: the owner starts again, a stale one stops.
    if (worker.owns()) {
      take_over(*worker.partition, worker.host);
    } else {
      end(worker, false);
    }
    return;
  }
  auto read = worker.poll(records, wall());
  say("worker " + std::to_string(worker.id) + " read to " +
      std::to_string(worker.worker->next_offset().value));
  note(worker, read ? Result<void>() : Result<void>(read.error()));
}

inline void SimWorld::note(SimWorker& worker, const Result<void>& outcome) {
  if (!outcome) findings_.add("stopped", outcome.error().message);
  if (const auto doubted = worker.worker->doubted(); doubted && random_.chance(.5)) {
    const auto same = worker.worker->log_ends_at(worker.partition->log.end(), *doubted);
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
  if (!worker.partition->group.commit(worker.epoch, worker.commit.offset)) return;
  say("partition " + std::to_string(worker.partition->id.value) + " committed " +
      std::to_string(worker.commit.offset.next.value) + " " + worker.commit.offset.metadata);
  check_safe(*worker.partition, worker.commit.offset);
  if (random_.chance(.9)) worker.worker->committed(worker.commit.offset.next);
}

}  // namespace hourfold::test
