#include "app/service.h"

#include <algorithm>
#include <utility>

#include "app/startup_wait.h"
#include "app/table_facts.h"
#include "app/thread_name.h"
#include "pipeline/memory_shares.h"

namespace hourfold {
namespace {

constexpr std::int64_t kCommitEveryMs = 1'000;
constexpr std::int64_t kTellEveryMs = 5'000;
constexpr std::int64_t kEndEveryMs = 1'000;
constexpr std::int64_t kWatchEveryMs = 60'000;
constexpr std::int64_t kNoteEveryMs = 1'000;
constexpr int kPollMs = 50;

}  // namespace

Service::Service(ServiceParts parts) : parts_(std::move(parts)), last_poll_ms_(parts_.clock->steady_ms()) {
  const Config& config = parts_.config;
  sink_ = std::make_unique<SinkThreads>(*parts_.table, config.sink.connections, parts_.on_put);
  const unsigned workers =
      config.workers != 0 ? config.workers : std::max(1U, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < workers; ++i) threads_.push_back(std::make_unique<WorkerThread>(*parts_.clock, i));
}

Service::~Service() {
  {
    const std::lock_guard lock(watch_mutex_);
    watch_stop_ = true;
  }
  watch_changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

Result<void> Service::check_table() {
  auto findings = parts_.table->check(parts_.table_spec);
  if (!findings) return findings.error();
  std::string refused;
  for (const TableFinding& finding : *findings) {
    if (finding.harmless) {
      parts_.log('w', "table: " + finding.message);
    } else {
      refused += (refused.empty() ? "" : "\n") + std::string("table: ") + finding.message;
    }
  }
  if (!refused.empty()) return fatal(refused);
  auto facts = read_table_facts(*parts_.table);
  if (!facts) return facts.error();
  facts_ = *facts;
  if (!parts_.rebuild) {
    generation_.store(facts->generation.value);
    return {};
  }
  generation_.store(parts_.rebuild->generation.value);
  if (facts->generation <= parts_.rebuild->generation) return {};
  return fatal("the table is of generation " + std::to_string(facts->generation.value) +
               " already, this rebuild of generation " + std::to_string(generation_.load()));
}

Result<void> Service::start() {
  const StartupWait wait{*parts_.clock, parts_.config.startup_timeout_ms, parts_.log,
                         [this] { return stopping_.load(); }};
  if (auto ready = until_ready(wait, "the table", [&] { return check_table(); }); !ready) return ready;
  if (auto ready = until_ready(wait, "the side topics", [&] { return parts_.side->check(); }); !ready)
    return ready;
  if (auto ready = until_ready(wait, "the topic", [&] { return parts_.source->start(this); }); !ready)
    return ready;
  auto counted = until_ready(wait, "the topic", [&]() -> Result<void> {
    auto count = parts_.source->partition_count();
    if (!count) return count.error();
    partition_count_ = *count;
    return {};
  });
  if (!counted) return counted;
  if (auto ready = until_ready(wait, "the table", [&] { return note_topic(); }); !ready) return ready;
  counter_ = std::make_unique<PartitionCounter>(*parts_.source);
  watcher_ = std::thread([this] {
    name_this_thread("watch");
    watch();
  });
  return {};
}

// The table is asked from a thread of its own: a call that hangs must not keep the polling thread from
// polling.
void Service::watch() {
  std::unique_lock lock(watch_mutex_);
  while (true) {
    watch_changed_.wait_for(lock, std::chrono::milliseconds(note_ ? kNoteEveryMs : kWatchEveryMs),
                            [&] { return watch_stop_ || raise_wanted_ || note_fresh_; });
    if (watch_stop_) return;
    const bool raise_now = std::exchange(raise_wanted_, false);
    note_fresh_ = false;
    lock.unlock();
    if (raise_now) raise();
    note_wanted();
    auto facts = read_table_facts(*parts_.table);
    lock.lock();
    {
      const std::lock_guard observers(mutex_);
      table_trouble_ = facts ? "" : facts.error().message;
    }
    if (!facts) continue;
    facts_ = *facts;
    if (facts->several) shared_.store(true);
    if (facts->generation.value > generation_.load()) {
      watch_fatal_ = fatal("the table is of generation " + std::to_string(facts->generation.value) +
                           " now, this service of generation " + std::to_string(generation_.load()) +
                           ": it was rebuilt, and the service of the new generation goes on with it. This "
                           "one can be removed.");
    }
  }
}

Result<void> Service::run() {
  std::vector<RecordBatch> batches;
  const bool has_end = parts_.rebuild && !parts_.rebuild->follow;
  while (!stopping_.load(std::memory_order_relaxed) && !(has_end && rebuild_done_)) {
    batches.clear();
    if (auto polled = parts_.source->poll(kPollMs, batches); !polled) return polled;
    last_poll_ms_.store(parts_.clock->steady_ms(), std::memory_order_relaxed);
    hand_out(batches);
    steer();
    settle_doubts();
    commit_due();
    tell_troubles();
    open_waiting();
    if (auto fine = look_for_failures(); !fine) return fine;
    if (auto fine = watch_partitions(); !fine) return fine;
    tell_of_sharing();
    advance_rebuild();
    parts_.on_turn(*this);
  }
  return {};
}

void Service::hand_out(std::vector<RecordBatch>& batches) {
  for (RecordBatch& batch : batches) {
    const auto at = held_.find(batch.partition);
    // Not open yet, or no longer ours: it will be read again from where its next owner starts.
    if (at == held_.end()) continue;
    at->second.task->push(std::move(batch));
    at->second.thread->wake();
  }
}

void Service::steer() {
  const std::int64_t now = parts_.clock->steady_ms();
  const bool ask_end = now >= next_end_ms_;
  if (ask_end) next_end_ms_ = now + kEndEveryMs;
  // Of one partition's batches between polling and folding. Fetched records beyond it stay in librdkafka's
  // own bounded queues.
  const std::size_t most_queued = MemoryShares::of(parts_.config.state.memory_bytes, partition_count_).inbox;
  const std::lock_guard lock(mutex_);
  for (auto& [partition, held] : held_) {
    const std::size_t queued = held.task->queued_bytes();
    if (!held.paused && (queued > most_queued || held.task->full())) {
      parts_.source->pause(partition);
      held.paused = true;
    } else if (held.paused && queued < most_queued / 2 && !held.task->full()) {
      parts_.source->resume(partition);
      held.paused = false;
    }
    if (!ask_end) continue;
    if (const auto log = parts_.source->known_bounds(partition)) held.end = log->end;
  }
}

// A partition whose table has counted what the log is not known to reach: the log is asked anew. One question
// a round, since it may wait for a broker that is away.
void Service::settle_doubts() {
  const std::int64_t now = parts_.clock->steady_ms();
  if (now < next_doubt_ms_) return;
  next_doubt_ms_ = now + kEndEveryMs;
  for (auto& [partition, held] : held_) {
    const auto doubted = held.task->doubted();
    if (!doubted) continue;
    const auto known = parts_.source->known_bounds(partition);
    if (known && known->end > *doubted) {
      held.task->log_ends_at(known->end, *doubted);
      continue;
    }
    if (const auto log = parts_.source->bounds(partition)) held.task->log_ends_at(log->end, *doubted);
    return;
  }
}

// Troubles that are ridden out are said once when they begin, once when they change and once when they are
// over.
void Service::tell_troubles() {
  const std::int64_t now = parts_.clock->steady_ms();
  if (now < next_tell_ms_) return;
  next_tell_ms_ = now + kTellEveryMs;
  std::map<std::string, std::string> troubles = {{"Kafka", parts_.source->last_error()}};
  // Partitions mostly share their trouble: one line for all of them.
  for (const auto& [partition, held] : held_) {
    log_alarms(partition, *held.task);
    if (const std::string trouble = held.task->trouble().what; !trouble.empty())
      troubles["table, side topics and schemas"] = trouble;
  }
  troubles.try_emplace("table, side topics and schemas");
  for (const auto& [what, trouble] : troubles) {
    std::string& before = told_[what];
    if (trouble == before) continue;
    if (trouble.empty()) {
      parts_.log('i', what + ": well again");
    } else {
      parts_.log('w', what + ": " + trouble + " (tried again until it works)");
    }
    before = trouble;
  }
}

void Service::log_alarms(PartitionId partition, PartitionTask& task) {
  for (const std::string& alarm : task.take_alarms())
    parts_.log('e', "partition " + std::to_string(partition.value) + ": " + alarm);
}

void Service::commit_due() {
  std::vector<CommitResult> results;
  parts_.source->take_commit_results(results);
  for (const CommitResult& result : results) {
    const auto at = held_.find(result.partition);
    if (at == held_.end() || !at->second.committing) continue;
    at->second.committing = false;
    if (result.outcome) {
      at->second.task->committed(at->second.in_flight);
    } else {
      parts_.log('w', "partition " + std::to_string(result.partition.value) +
                          ": offset not committed: " + result.outcome.error().message);
    }
  }
  const std::int64_t now = parts_.clock->steady_ms();
  if (now < next_commit_ms_) return;
  next_commit_ms_ = now + kCommitEveryMs;
  for (auto& [partition, held] : held_) {
    if (held.committing) continue;
    const auto due = held.task->take_commit();
    if (!due) continue;
    if (auto sent = parts_.source->commit(partition, *due); !sent) {
      parts_.log('w', "partition " + std::to_string(partition.value) +
                          ": offset not committed: " + sent.error().message);
      continue;
    }
    held.committing = true;
    held.in_flight = due->next;
  }
}

Result<void> Service::look_for_failures() {
  if (fatal_) return *fatal_;
  for (const auto& [partition, held] : held_) {
    if (auto failure = held.task->failure()) return *failure;
  }
  const std::lock_guard lock(watch_mutex_);
  if (watch_fatal_) return *watch_fatal_;
  return {};
}

bool Service::finish(std::chrono::milliseconds timeout) {
  const std::int64_t deadline = parts_.clock->steady_ms() + timeout.count();
  for (auto& [partition, held] : held_) {
    parts_.source->pause(partition);
    held.task->drain();
    held.thread->wake();
  }
  const auto drained = [&] {
    return std::all_of(held_.begin(), held_.end(), [](const auto& held) {
      return held.second.task->drained() || held.second.task->failure();
    });
  };
  std::vector<RecordBatch> ignored;
  while (!drained() && parts_.clock->steady_ms() < deadline) {
    ignored.clear();
    if (!parts_.source->poll(kPollMs, ignored)) break;
    commit_due();
  }
  parts_.source->stop();  // closes what is held, see on_revoked()
  const auto left = std::max<std::int64_t>(0, deadline - parts_.clock->steady_ms());
  return sink_->stop(std::chrono::milliseconds(left + 1'000));
}

Service::Status Service::status() const {
  Status status;
  const std::lock_guard lock(mutex_);
  status.joined = joined_;
  status.trouble = table_trouble_;
  status.since_poll =
      std::chrono::milliseconds(parts_.clock->steady_ms() - last_poll_ms_.load(std::memory_order_relaxed));
  for (const auto& [partition, why] : waiting_) {
    status.waiting.push_back(partition);
    status.waiting_for = why;
  }
  for (const auto& [partition, held] : held_) {
    PartitionStatus one;
    one.partition = partition;
    one.next_offset = static_cast<std::int64_t>(held.task->counters().next_offset.get());
    one.needed_from = static_cast<std::int64_t>(held.task->counters().needed_from.get());
    if (held.end) one.end_offset = held.end->value;
    one.paused = held.paused;
    if (held.rebuild_end) one.rebuild_end = held.rebuild_end->value;
    const PartitionTask::Trouble trouble = held.task->trouble();
    one.trouble = trouble.what;
    if (!trouble.what.empty())
      one.trouble_for = std::chrono::milliseconds(parts_.clock->steady_ms() - trouble.since_ms);
    status.partitions.push_back(std::move(one));
  }
  return status;
}

std::map<std::int32_t, CounterTotals> Service::totals_by_partition() const {
  const std::lock_guard lock(mutex_);
  std::map<std::int32_t, CounterTotals> totals = retired_;
  for (const auto& [partition, held] : held_) totals[partition.value] += held.task->totals();
  return totals;
}

CounterTotals Service::totals() const {
  CounterTotals sum;
  for (const auto& [partition, totals] : totals_by_partition()) sum += totals;
  return sum;
}

}  // namespace hourfold
