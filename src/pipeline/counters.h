// What one partition's worker counts. Written by the worker's thread alone, read by any.
//
// Invariant: folded + duplicate + quarantined + archived + malformed + already_counted + waiting = consumed,
// between two calls of the worker. Whoever reads from another thread has to ask for a copy made there
// (app/worker_threads.h).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/reading.h"

namespace hourfold {

// One writer: plain loads and stores, no locked instruction on the hot path.
class Counter {
 public:
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct WorkerCounters {
  Counter records;
  Counter bytes;  // of keys and values
  Counter tombstones;

  Counter consumed;  // readings
  Counter folded;
  Counter duplicate;
  Counter quarantined;
  Counter archived;
  Counter malformed;
  Counter already_counted;
  Counter waiting;  // gauge

  Counter conflicts;         // duplicates whose value was provably another one
  Counter duplicate_values;  // metrics that were left out of readings of which others were folded, and of
                             // duplicates
  std::array<Counter, static_cast<std::size_t>(Malformed::kCount)> malformed_by_reason;
  std::array<Counter, static_cast<std::size_t>(MetricReject::kCount)> rejected_metrics;
  Counter dead_contribution_full;
  Counter dead_contribution_missing;

  Counter windows_opened;
  Counter windows_expired;
  Counter windows_in_memory;    // gauge
  Counter window_bytes;         // gauge
  Counter outbox;               // gauge: windows not acknowledged
  Counter unproven;             // gauge: acknowledgements that count once the topic has not grown
  Counter side_unacknowledged;  // gauge
  Counter side_reduced;         // written without a part that the topic did not take
  Counter side_refused;         // not taken in any form
  Counter rows_put;
  Counter cells_put;
  Counter put_batches;
  Counter put_unavailable;  // batches of Puts that failed: nothing was written
  Counter put_unknown;      // may have been written
  Counter put_refused;      // some row of it is refused
  Counter rows_refused;
  Counter refused_kept;      // gauge: windows that wait for their next change
  Counter refused_released;  // given up, they expire with their hour
  Counter look_ups;
  Counter look_up_failures;
  Counter checkpoints;

  // Gauges: what the state knows of the past.
  Counter lost_ranges;
  Counter lost_offsets;
  Counter rule_changes;

  Counter next_offset;  // gauge
  Counter needed_from;  // gauge: what C may become
};

}  // namespace hourfold
