#include "app/retired_counters.h"

#include <algorithm>

namespace hourfold {
namespace {

// Every plain member with the counter it comes from; gauges are marked, they end with their worker.
struct Member {
  std::uint64_t CounterTotals::*total;
  Counter WorkerCounters::*counter;
  bool gauge;
};
constexpr Member kMembers[] = {
    {&CounterTotals::records, &WorkerCounters::records, false},
    {&CounterTotals::bytes, &WorkerCounters::bytes, false},
    {&CounterTotals::tombstones, &WorkerCounters::tombstones, false},
    {&CounterTotals::consumed, &WorkerCounters::consumed, false},
    {&CounterTotals::folded, &WorkerCounters::folded, false},
    {&CounterTotals::duplicate, &WorkerCounters::duplicate, false},
    {&CounterTotals::quarantined, &WorkerCounters::quarantined, false},
    {&CounterTotals::archived, &WorkerCounters::archived, false},
    {&CounterTotals::malformed, &WorkerCounters::malformed, false},
    {&CounterTotals::already_counted, &WorkerCounters::already_counted, false},
    {&CounterTotals::waiting, &WorkerCounters::waiting, true},
    {&CounterTotals::conflicts, &WorkerCounters::conflicts, false},
    {&CounterTotals::duplicate_values, &WorkerCounters::duplicate_values, false},
    {&CounterTotals::dead_contribution_full, &WorkerCounters::dead_contribution_full, false},
    {&CounterTotals::dead_contribution_missing, &WorkerCounters::dead_contribution_missing, false},
    {&CounterTotals::windows_opened, &WorkerCounters::windows_opened, false},
    {&CounterTotals::windows_expired, &WorkerCounters::windows_expired, false},
    {&CounterTotals::windows_in_memory, &WorkerCounters::windows_in_memory, true},
    {&CounterTotals::window_bytes, &WorkerCounters::window_bytes, true},
    {&CounterTotals::outbox, &WorkerCounters::outbox, true},
    {&CounterTotals::unproven, &WorkerCounters::unproven, true},
    {&CounterTotals::side_unacknowledged, &WorkerCounters::side_unacknowledged, true},
    {&CounterTotals::side_reduced, &WorkerCounters::side_reduced, false},
    {&CounterTotals::side_refused, &WorkerCounters::side_refused, false},
    {&CounterTotals::rows_put, &WorkerCounters::rows_put, false},
    {&CounterTotals::cells_put, &WorkerCounters::cells_put, false},
    {&CounterTotals::put_batches, &WorkerCounters::put_batches, false},
    {&CounterTotals::put_unavailable, &WorkerCounters::put_unavailable, false},
    {&CounterTotals::put_unknown, &WorkerCounters::put_unknown, false},
    {&CounterTotals::put_refused, &WorkerCounters::put_refused, false},
    {&CounterTotals::refused_kept, &WorkerCounters::refused_kept, true},
    {&CounterTotals::refused_released, &WorkerCounters::refused_released, false},
    {&CounterTotals::lost_ranges, &WorkerCounters::lost_ranges, true},
    {&CounterTotals::lost_offsets, &WorkerCounters::lost_offsets, true},
    {&CounterTotals::rule_changes, &WorkerCounters::rule_changes, true},
    {&CounterTotals::rows_refused, &WorkerCounters::rows_refused, false},
    {&CounterTotals::look_ups, &WorkerCounters::look_ups, false},
    {&CounterTotals::look_up_failures, &WorkerCounters::look_up_failures, false},
    {&CounterTotals::checkpoints, &WorkerCounters::checkpoints, false},
};

}  // namespace

CounterTotals CounterTotals::of(const WorkerCounters& counters) {
  CounterTotals totals;
  for (const Member& member : kMembers) totals.*member.total = (counters.*member.counter).get();
  for (std::size_t i = 0; i < totals.malformed_by_reason.size(); ++i) {
    totals.malformed_by_reason[i] = counters.malformed_by_reason[i].get();
  }
  for (std::size_t i = 0; i < totals.rejected_metrics.size(); ++i)
    totals.rejected_metrics[i] = counters.rejected_metrics[i].get();
  return totals;
}

void CounterTotals::retire() {
  handed_over += waiting;
  for (const Member& member : kMembers) {
    if (member.gauge) this->*member.total = 0;
  }
}

CounterTotals& CounterTotals::operator+=(const CounterTotals& other) {
  for (const Member& member : kMembers) this->*member.total += other.*member.total;
  for (std::size_t i = 0; i < malformed_by_reason.size(); ++i)
    malformed_by_reason[i] += other.malformed_by_reason[i];
  for (std::size_t i = 0; i < rejected_metrics.size(); ++i) rejected_metrics[i] += other.rejected_metrics[i];
  handed_over += other.handed_over;
  checkpoint_us_max = std::max(checkpoint_us_max, other.checkpoint_us_max);
  return *this;
}

}  // namespace hourfold
