// The counters of a worker as plain numbers that can be added up over workers, those included that are gone.
#pragma once

#include <array>
#include <cstdint>

#include "pipeline/counters.h"

namespace hourfold {

struct CounterTotals {
  std::uint64_t records = 0, bytes = 0, tombstones = 0;
  std::uint64_t consumed = 0, folded = 0, duplicate = 0, quarantined = 0, archived = 0, malformed = 0,
                already_counted = 0, waiting = 0;
  // Readings that waited for a look-up when their partition left: the next owner has them from the state or
  // reads them again.
  std::uint64_t handed_over = 0;
  std::uint64_t conflicts = 0, duplicate_values = 0, dead_contribution_full = 0,
                dead_contribution_missing = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Malformed::kCount)> malformed_by_reason{};
  std::array<std::uint64_t, static_cast<std::size_t>(MetricReject::kCount)> rejected_metrics{};
  std::uint64_t windows_opened = 0, windows_expired = 0, windows_in_memory = 0, window_bytes = 0, outbox = 0,
                unproven = 0, side_unacknowledged = 0, side_reduced = 0, side_refused = 0;
  std::uint64_t rows_put = 0, cells_put = 0, put_batches = 0, put_unavailable = 0, put_unknown = 0,
                put_refused = 0, refused_kept = 0, refused_released = 0, rows_refused = 0, look_ups = 0,
                look_up_failures = 0;
  std::uint64_t lost_ranges = 0, lost_offsets = 0, rule_changes = 0;
  std::uint64_t checkpoints = 0, checkpoint_us_max = 0;

  static CounterTotals of(const WorkerCounters& counters);
  // What stays of a worker that is gone: its gauges are nobody's any more.
  void retire();
  CounterTotals& operator+=(const CounterTotals& other);
};

}  // namespace hourfold
