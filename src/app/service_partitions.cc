// The part of the service that takes partitions and gives them back. Everything here runs on the polling
// thread.
#include <algorithm>

#include "app/null_ports.h"
#include "app/service.h"
#include "app/worker_settings.h"

namespace hourfold {
namespace {

constexpr std::int64_t kRetryOpenMs = 1'000;

}  // namespace

void Service::on_assigned(const std::vector<PartitionId>& partitions) {
  {
    const std::lock_guard lock(mutex_);
    joined_ = true;
    for (const PartitionId partition : partitions) waiting_.emplace(partition, "not tried yet");
  }
  next_open_ms_ = 0;
  open_waiting();
}

void Service::open_waiting() {
  const std::int64_t now = parts_.clock->steady_ms();
  if (waiting_.empty() || now < next_open_ms_ || fatal_) return;
  next_open_ms_ = now + kRetryOpenMs;
  std::vector<PartitionId> partitions;
  for (const auto& [partition, why] : waiting_) partitions.push_back(partition);
  for (const PartitionId partition : partitions) {
    auto opened = open(partition);
    const std::lock_guard lock(mutex_);
    if (opened) {
      waiting_.erase(partition);
      continue;
    }
    if (!opened.error().retryable()) {
      fatal_ = opened.error();
      return;
    }
    std::string& why = waiting_[partition];
    if (why != opened.error().message) {
      parts_.log('w',
                 "partition " + std::to_string(partition.value) + " has to wait: " + opened.error().message);
    }
    why = opened.error().message;
  }
}

Result<StartPlan> Service::plan(PartitionId partition, WindowStore& store) {
  StartFacts facts;
  facts.topic = parts_.config.kafka.topics.front();
  facts.partition = partition;
  facts.partition_count = partition_count_;
  facts.generation = {generation_.load()};
  facts.fingerprint = semantics_fingerprint(parts_.config);
  facts.on_gap = parts_.config.kafka.on_gap;
  if (parts_.rebuild) facts.rebuild = parts_.rebuild->starts.at(partition);
  auto marks = store.marks();
  if (!marks) return marks.error();
  if (*marks) {
    auto disk = read_state_marks(**marks);
    if (!disk) return disk.error();
    facts.disk = std::move(*disk);
  }
  auto committed = parts_.source->committed(partition);
  if (!committed) return committed.error();
  facts.committed = std::move(*committed);
  if (partitions_noted(facts) > partition_count_) {
    // Another process knows more than we do, or the topic was created again.
    auto count = parts_.source->partition_count();
    if (!count) return count.error();
    if (*count > partition_count_) {
      if (auto fine = counted(*count); !fine) return fine.error();
      return unavailable("the topic has grown, and the table has to hear of it first");
    }
  }
  auto log = parts_.source->bounds(partition);
  if (!log) return log.error();
  facts.log = *log;
  if (!facts.disk && !facts.committed) {
    auto empty = parts_.table->empty();
    if (!empty) return empty.error();
    facts.table_empty = *empty;
  }
  return plan_start(facts);
}

Result<void> Service::open(PartitionId partition) {
  if (partition.value >= partition_count_) {
    next_count_ms_ = 0;
    return unavailable("it is a new partition, and how many there are is being asked");
  }
  if (!growth_noted()) return unavailable("the table has to hear first that the topic has grown");
  PartitionTask::Parts task;
  task.partition = partition;
  std::string notice;
  const auto open_store = [&]() -> Result<void> {
    auto store = parts_.stores->open(partition, notice);
    if (!store) return store.error();
    task.store = std::move(*store);
    if (!notice.empty()) parts_.log('w', notice);
    return {};
  };
  if (auto opened = open_store(); !opened) return opened;
  auto planned = plan(partition, *task.store);
  if (!planned) return planned.error();
  if (planned->grown && !shared_) {
    note_growth();
    return unavailable("the topic has grown, and the table has to hear of it first");
  }
  for (const std::string& line : planned->notices) parts_.log('i', line);
  if (planned->state == StartPlan::State::kSetAside) {
    task.store.reset();
    if (auto aside = parts_.stores->set_aside(partition, planned->notices.front()); !aside) return aside;
    if (auto opened = open_store(); !opened) return opened;
  }
  // Once begun anew, a partition that comes back goes on.
  if (parts_.rebuild) parts_.rebuild->starts.at(partition).anew = false;
  if (planned->commit_first) {
    if (auto done = parts_.source->commit_now(partition, *planned->commit_first); !done) return done;
  }
  const auto thread = std::min_element(threads_.begin(), threads_.end(), [](const auto& a, const auto& b) {
    return a->partitions() < b->partitions();
  });
  task.sink = sink_->open([worker = thread->get()] { worker->wake(); });
  task.side = parts_.side->open(partition);
  Held held;
  if (planned->marks.rebuild) held.rebuild_end = planned->marks.rebuild->end;
  if (parts_.rebuild && held.rebuild_end)
    task.side = std::make_unique<SideOutputFrom>(*held.rebuild_end, std::move(task.side));
  WorkerSettings settings = worker_settings(parts_.config, partition, partition_count_, parts_.schemas.get());
  if (shared_) settings.shared = shared_rows();
  settings.may_grow = true;
  settings.ends_with_rebuild = parts_.rebuild && !parts_.rebuild->follow;
  auto worker = PartitionWorker::open(settings, std::move(*planned), *task.store, *task.sink, *task.side,
                                      parts_.clock->now_ms());
  if (!worker) return worker.error();
  task.worker = std::move(*worker);
  task.schemas = parts_.schemas.get();
  const Offset from = task.worker->next_offset();
  // A service that a rebuild has become holds nothing back.
  if (taking_over_ || !parts_.rebuild) task.worker->release_all();
  held.task = std::make_shared<PartitionTask>(std::move(task));
  held.thread = thread->get();
  {
    const std::lock_guard lock(mutex_);
    held_[partition] = held;
  }
  held.thread->add(held.task);
  if (auto started = parts_.source->start_reading(partition, from); !started) {
    close(partition, true);
    return started;
  }
  return {};
}

void Service::close(PartitionId partition, bool lost) {
  const auto at = held_.find(partition);
  if (at == held_.end()) return;
  const Held held = at->second;
  const auto commit = held.thread->close(held.task);
  log_alarms(partition, *held.task);
  if (auto failure = held.task->failure()) parts_.log('e', failure->message);
  if (commit && !lost) {
    if (auto done = parts_.source->commit_now(partition, *commit); !done) {
      parts_.log('w', "partition " + std::to_string(partition.value) +
                          ": offset not committed: " + done.error().message);
    }
  }
  CounterTotals totals = held.task->totals();
  totals.retire();
  const std::lock_guard lock(mutex_);
  retired_[partition.value] += totals;
  held_.erase(partition);
}

void Service::on_revoked(const std::vector<PartitionId>& partitions, bool lost) {
  if (!lost) prove_now();
  for (const PartitionId partition : partitions) {
    close(partition, lost);
    const std::lock_guard lock(mutex_);
    waiting_.erase(partition);
  }
}

void Service::on_out_of_range(PartitionId partition) {
  // The log lost what was to be read next. Closed and opened anew, the plan decides: take over at the
  // committed offset, or stop.
  close(partition, false);
  const std::lock_guard lock(mutex_);
  waiting_[partition] = "the next offset is no longer in the log";
}

}  // namespace hourfold
