#include "app/partition_counter.h"

#include <utility>

#include "app/thread_name.h"
#include "core/check.h"

namespace hourfold {

PartitionCounter::PartitionCounter(RecordSource& source)
    : source_(source), thread_([this] {
        name_this_thread("partitions");
        run();
      }) {}

PartitionCounter::~PartitionCounter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PartitionCounter::ask() {
  HF_CHECK(!asked_);
  asked_ = true;
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  changed_.notify_all();
}

std::optional<Result<std::int32_t>> PartitionCounter::take() { return wait(std::chrono::milliseconds(0)); }

std::optional<Result<std::int32_t>> PartitionCounter::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return answer_.has_value(); });
  if (answer_) asked_ = false;
  return std::exchange(answer_, std::nullopt);
}

void PartitionCounter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return wanted_ || stopping_; });
    if (stopping_) return;
    wanted_ = false;
    lock.unlock();
    auto count = source_.partition_count();
    lock.lock();
    answer_.emplace(std::move(count));
    changed_.notify_all();
  }
}

}  // namespace hourfold
