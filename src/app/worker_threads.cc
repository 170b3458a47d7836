#include "app/worker_threads.h"

#include <algorithm>
#include <chrono>

#include "app/open_schemas.h"
#include "app/thread_name.h"

namespace hourfold {
namespace {

constexpr std::int64_t kTellEveryMs = 200;
// Between two times that the polling thread takes them.
constexpr std::size_t kMaxAlarms = 20;
constexpr auto kIdleWait = std::chrono::milliseconds(20);

}  // namespace

PartitionTask::PartitionTask(Parts parts) : parts_(std::move(parts)) { publish_totals(); }

CounterTotals PartitionTask::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void PartitionTask::publish_totals() {
  totals_ = CounterTotals::of(counters());
  totals_.checkpoint_us_max = longest_checkpoint_us();
}

void PartitionTask::push(RecordBatch batch) {
  queued_bytes_.fetch_add(batch.bytes, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  inbox_.push_back(std::move(batch));
}

std::optional<CommittedOffset> PartitionTask::take_commit() {
  const std::lock_guard lock(mutex_);
  return std::exchange(commit_, std::nullopt);
}

void PartitionTask::committed(Offset offset) {
  const std::lock_guard lock(mutex_);
  committed_ = offset;
}

std::optional<Error> PartitionTask::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

PartitionTask::Trouble PartitionTask::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

std::vector<std::string> PartitionTask::take_alarms() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> alarms = std::exchange(alarms_, {});
  if (const std::size_t more = std::exchange(more_alarms_, 0); more != 0)
    alarms.push_back("and " + std::to_string(more) + " more");
  return alarms;
}

void PartitionTask::note_alarms() {
  for (std::string& alarm : parts_.worker->take_alarms()) {
    if (alarms_.size() < kMaxAlarms) {
      alarms_.push_back(std::move(alarm));
    } else {
      ++more_alarms_;
    }
  }
}

std::optional<Offset> PartitionTask::doubted() const {
  const std::lock_guard lock(mutex_);
  return doubted_;
}

void PartitionTask::log_ends_at(Offset end, Offset doubted) {
  const std::lock_guard lock(mutex_);
  log_end_ = LogEnd{end, doubted};
  doubted_.reset();
}

void PartitionTask::share(const SharedRowRules& rules, std::int32_t partition_count) {
  const std::lock_guard lock(mutex_);
  sharing_ = Sharing{rules, partition_count};
}

void PartitionTask::hear_of_growth(EpochMs now) {
  std::optional<Sharing> sharing;
  {
    const std::lock_guard lock(mutex_);
    sharing = std::exchange(sharing_, std::nullopt);
  }
  if (sharing) parts_.worker->share(sharing->rules, sharing->partition_count, now);
  parts_.worker->prove(proven_.load(std::memory_order_acquire));
}

void PartitionTask::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  failure_ = error;
  inbox_.clear();
  queued_bytes_.store(0, std::memory_order_relaxed);
}

bool PartitionTask::turn(const Clock& clock) {
  const EpochMs now = clock.now_ms();
  if (failure()) return false;
  if (release_all_.load(std::memory_order_relaxed)) parts_.worker->release_all();
  hear_of_growth(now);
  bool worked = false;
  if (draining_.load(std::memory_order_relaxed)) {
    parts_.worker->hurry();
  } else if (auto folded = fold_some(now, worked); !folded) {
    fail(folded.error());
    return false;
  }
  if (auto stepped = step(now); !stepped) {
    fail(stepped.error());
    return false;
  }
  settled_.store(parts_.worker->settled(now), std::memory_order_release);
  acknowledgements_.store(parts_.worker->acknowledgements(), std::memory_order_release);
  if (auto told = tell(clock.steady_ms()); !told) {
    fail(told.error());
    return false;
  }
  const std::lock_guard lock(mutex_);
  publish_totals();
  return worked;
}

Result<void> PartitionTask::step(EpochMs now) {
  const std::uint64_t checkpoints = counters().checkpoints.get();
  const auto begin = std::chrono::steady_clock::now();
  auto stepped = parts_.worker->step(now);
  if (counters().checkpoints.get() != checkpoints) {
    const auto taken = std::chrono::steady_clock::now() - begin;
    const auto us =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
    longest_checkpoint_us_.store(std::max(longest_checkpoint_us(), us), std::memory_order_relaxed);
  }
  return stepped;
}

// A schema that nobody can tell yet is no reason to refuse a reading, nor to stand still with anything else.
bool PartitionTask::next_can_be_read() {
  if (parts_.schemas == nullptr) return true;
  if (!next_ids_) {
    const RecordBatch* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (inbox_.empty()) return true;
      next = &inbox_.front();  // stays where it is: others only add behind it
    }
    next_ids_ = schema_ids(*next);
  }
  schema_trouble_ = parts_.schemas->why_not_yet(*next_ids_);
  return schema_trouble_.empty();
}

Result<void> PartitionTask::fold_some(EpochMs now, bool& worked) {
  // A batch at a time, so that emission and the other partitions of the thread are never far away.
  if (parts_.worker->full() || !next_can_be_read()) return {};
  RecordBatch batch;
  {
    const std::lock_guard lock(mutex_);
    if (inbox_.empty()) return {};
    batch = std::move(inbox_.front());
    inbox_.pop_front();
    next_ids_.reset();
  }
  worked = true;
  queued_bytes_.fetch_sub(batch.bytes, std::memory_order_relaxed);
  return parts_.worker->fold(batch, now);
}

Result<void> PartitionTask::tell(std::int64_t steady_ms) {
  full_.store(parts_.worker->full(), std::memory_order_relaxed);
  drained_.store(draining_.load(std::memory_order_relaxed) && parts_.worker->drained(),
                 std::memory_order_release);
  if (steady_ms < next_tell_ms_ && !draining_.load(std::memory_order_relaxed)) return {};
  next_tell_ms_ = steady_ms + kTellEveryMs;
  const std::lock_guard lock(mutex_);
  if (committed_) parts_.worker->committed(*std::exchange(committed_, std::nullopt));
  if (const auto log = std::exchange(log_end_, std::nullopt)) {
    if (auto same = parts_.worker->log_ends_at(log->end, log->doubted); !same) return same;
  }
  commit_ = parts_.worker->commit_due();
  std::string trouble = parts_.worker->trouble();
  if (trouble.empty()) trouble = schema_trouble_;
  if (trouble_.what.empty()) trouble_.since_ms = steady_ms;
  trouble_.what = std::move(trouble);
  note_alarms();
  doubted_ = parts_.worker->doubted();
  return {};
}

std::optional<CommittedOffset> PartitionTask::finish(EpochMs now) {
  const std::lock_guard lock(mutex_);
  inbox_.clear();
  if (committed_) parts_.worker->committed(*std::exchange(committed_, std::nullopt));
  std::optional<CommittedOffset> commit;
  if (!failure_) {
    parts_.worker->prove(proven_.load(std::memory_order_acquire));
    // What the state does not get is read again from the committed offset: nothing is lost if this fails.
    if (auto stored = parts_.worker->checkpoint(now); !stored) failure_ = stored.error();
    if (!failure_) {
      if (auto synced = parts_.store->sync(); !synced) failure_ = synced.error();
    }
    commit = parts_.worker->commit_due();
    publish_totals();
  }
  note_alarms();
  return commit;
}

WorkerThread::WorkerThread(const Clock& clock, unsigned number)
    : clock_(clock), thread_([this, number] {
        name_this_thread("fold-" + std::to_string(number));
        run();
      }) {}

WorkerThread::~WorkerThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WorkerThread::add(std::shared_ptr<PartitionTask> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake();
}

std::size_t WorkerThread::partitions() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

void WorkerThread::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

std::optional<CommittedOffset> WorkerThread::close(const std::shared_ptr<PartitionTask>& task) {
  std::unique_lock lock(mutex_);
  closing_ = task;
  woken_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return closing_ == nullptr; });
  return std::exchange(closed_commit_, std::nullopt);
}

void WorkerThread::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (closing_) {
      const auto task = closing_;
      std::erase(tasks_, task);
      lock.unlock();
      auto commit = task->finish(clock_.now_ms());
      // Another process may open it from now on. Of the worker only the counters are used any more.
      task->parts_.store.reset();
      lock.lock();
      closed_commit_ = std::move(commit);
      closing_ = nullptr;
      changed_.notify_all();
      continue;
    }
    const auto tasks = tasks_;
    lock.unlock();
    bool worked = false;
    for (const auto& task : tasks) worked = task->turn(clock_) || worked;
    lock.lock();
    if (!worked && !woken_ && !closing_ && !stopping_)
      changed_.wait_for(lock, kIdleWait, [&] { return woken_ || closing_ || stopping_; });
    woken_ = false;
  }
}

}  // namespace hourfold
