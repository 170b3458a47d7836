// Asks a topic's broker, on a thread of its own, how many partitions there are: a broker that hangs must not
// keep the polling thread from polling.
//
// Threads:   one asks; the source answers partition_count() to any thread and outlives this.
// Bounded:   one question at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "core/result.h"
#include "ports/record_source.h"

namespace hourfold {

class PartitionCounter {
 public:
  explicit PartitionCounter(RecordSource& source);
  ~PartitionCounter();

  bool asked() const { return asked_; }
  // Not while asked().
  void ask();
  // The answer to the question asked, once.
  std::optional<Result<std::int32_t>> take();
  // The same, waited for.
  std::optional<Result<std::int32_t>> wait(std::chrono::milliseconds timeout);

 private:
  void run();

  RecordSource& source_;
  bool asked_ = false;  // of the thread that asks
  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false;
  bool stopping_ = false;
  std::optional<Result<std::int32_t>> answer_;
  std::thread thread_;
};

}  // namespace hourfold
