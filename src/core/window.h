// One partition's contribution to one device's hour: aggregates per metric, the event times folded into each,
// how many readings that were (the revision), and up to which position of the partition.
//
// Invariants: a pure function of the readings folded, in position order. The revision grows by one with each;
// the last position never
//             goes back. Each hour keeps the duplicate setting it began with.
// Threads:    none of its own; one thread at a time.
// Bytes:      core/contribution_codec.h. Source of the rules: docs/FORMATS.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aggregate.h"
#include "core/metric_schema.h"
#include "core/seen_times.h"
#include "core/types.h"

namespace hourfold {

inline constexpr std::size_t kMaxMetricsPerWindow = 4096;
inline constexpr std::size_t kMaxContributionBytes = 1 << 20;

enum class FoldResult : std::uint8_t {
  kFolded,            // at least one metric was new
  kDuplicate,         // every metric of it had been folded for this event time
  kAlreadyCounted,    // at or below the last position this window holds
  kHourFull,          // no revision left that has a timestamp of its own: quarantine
  kContributionFull,  // it would pass the bounds on metrics or bytes, or did when its turn came: dead letter
};

struct FoldOutcome {
  FoldResult result = FoldResult::kFolded;
  std::uint32_t duplicate_values = 0;
  // A duplicate whose value is provably another one: it lies outside min and max of what was folded. A lower
  // bound, since the values themselves are not kept.
  bool conflict = false;
};

// What folding shares over all windows of a worker.
struct FoldTools {
  SchemaPool schemas;
  SlotMapper slots;
  std::size_t max_metrics = kMaxMetricsPerWindow;  // a lower bound of the operator; a part of the rules
};

class Window {
 public:
  Window(bool deduplicate, const SchemaPool& pool) : schema_(pool.empty()), deduplicates_(deduplicate) {}

  // metrics: unique names, at least one. time: event time within the hour, in ms. Nothing changes unless the
  // result is kFolded.
  FoldOutcome fold(std::span<const Metric> metrics, std::uint32_t time, Position position, EpochMs arrival_ms,
                   FoldTools& tools);

  Revision revision() const { return revision_; }
  Position last_position() const { return last_position_; }
  EpochMs last_arrival_ms() const { return last_arrival_ms_; }
  bool deduplicates() const { return deduplicates_; }
  const MetricSchema& schema() const { return *schema_; }
  const Aggregate& aggregate(std::size_t slot) const { return aggregates_[slot]; }
  // Only while deduplicating. Different indexes may hold equal sets.
  std::size_t times_index(std::size_t slot) const { return times_of_.empty() ? 0 : times_of_[slot]; }
  const std::vector<SeenTimes>& times() const { return times_; }

  std::size_t memory_bytes() const;

  // For a fold that comes soon: what it will touch, in two steps of which the second needs what the first
  // asked for.
  void prefetch_content() const;
  void prefetch_times() const;

  struct Parts {
    SchemaPtr schema;
    std::vector<Aggregate> aggregates;
    std::vector<std::uint16_t> times_of;
    std::vector<SeenTimes> times;
    Revision revision;
    Position last_position;
    EpochMs last_arrival_ms = 0;
    bool deduplicates = true;
    std::size_t encoded_bytes = 0;
  };
  explicit Window(Parts parts);

 private:
  struct Fresh;    // which metrics of a reading are to be folded
  struct Touched;  // by set of times: how many metrics have it, and how many of them are folded
  // Of a reading at or below the last position: it did not fit. A contribution only grows, so it would not
  // fit now either; whoever takes over before its dead letter is acknowledged has to write it.
  bool was_refused(std::span<const Metric> metrics, std::span<const Slot> slots, std::uint32_t time,
                   FoldTools& tools) const;
  bool fold_in_order(std::span<const Metric> metrics, std::span<const Slot> slots, std::uint32_t time);
  Fresh find_fresh(std::span<const Metric> metrics, std::span<const Slot> slots, std::uint32_t time,
                   FoldOutcome& outcome) const;
  void apply(std::span<const Metric> metrics, const Fresh& fresh, std::uint32_t time, FoldTools& tools);
  void note_times(const Fresh& fresh, std::uint32_t time);
  void add_metrics(std::span<const Metric> metrics, const Fresh& fresh, std::uint32_t time, FoldTools& tools);
  std::size_t growth_bound(std::span<const Metric> metrics, const Fresh& fresh) const;
  Touched touched_sets(const Fresh& fresh) const;
  bool has_equal(std::size_t index) const;
  static std::uint32_t bound_after(std::size_t encoded_bytes, std::size_t metrics);
  bool fits_exactly(std::span<const Metric> metrics, const Fresh& fresh, std::uint32_t time,
                    FoldTools& tools);

  SchemaPtr schema_;
  std::vector<Aggregate> aggregates_;    // by slot
  std::vector<std::uint16_t> times_of_;  // by slot: index into times_; empty while all share times_[0]
  std::vector<SeenTimes> times_;
  Revision revision_;
  Position last_position_;
  EpochMs last_arrival_ms_ = 0;
  static constexpr std::uint32_t kHeaderBound = 64;
  // Never below the size of the encoding plus kHeaderBound. A reading that would lift it past the limit is
  // decided by encoding, so the decision is a function of the content although this bound is not.
  std::uint32_t size_bound_ = 2 * kHeaderBound;
  bool deduplicates_;
};

}  // namespace hourfold
