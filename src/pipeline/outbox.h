// The windows that the table has not acknowledged: when each is due, which are ready to go by salt, and the
// lowest offset that any needs.
//
// Invariants: a window is idle, scheduled, ready or in flight (one Put of it at a time). Ready windows leave
// in the order of their first
//             unacknowledged offset: oldest hour first would hold the committed offset for hours in a
//             backfill.
// Threads:    the partition's worker. Time is an argument, of a clock that never goes back (timeline.h); the
// wall clock closes hours.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/types.h"
#include "pipeline/window_table.h"

namespace hourfold {

struct EmitPolicy {
  std::int64_t refresh_ms = 60'000;    // while the hour is open by the wall clock
  std::int64_t late_delay_ms = 5'000;  // once it has closed
  std::int64_t closing_spread_ms = 5'000;
};

// When a window that changed now, by the wall clock, is to be written.
EpochMs emission_due(const EmitPolicy& policy, HourStart hour, std::uint64_t device_hash, EpochMs now);

class Outbox {
 public:
  using Ready = std::set<std::pair<Offset, OpenWindow*>>;

  Outbox(EmitPolicy policy, std::uint32_t buckets) : policy_(policy), ready_(buckets) {}

  // How far the times of the calls that follow are ahead of the wall clock.
  void set_ahead(std::int64_t ahead_ms) { ahead_ms_ = ahead_ms; }
  // A reading at this offset was folded into the window.
  void changed(OpenWindow& entry, Offset offset, EpochMs now);
  // An acknowledgement since that offset does not count: pending as before it.
  void reopen(OpenWindow& entry, Offset first, EpochMs now);
  // Restored from the state: pending since that offset.
  void restore(OpenWindow& entry, Offset first, EpochMs now);

  // Moves what is due to ready.
  void step(EpochMs now);
  const Ready& ready(std::uint32_t salt) const { return ready_[salt]; }
  std::uint32_t salt_of(const OpenWindow& entry) const {
    return entry.device->murmur % static_cast<std::uint32_t>(ready_.size());
  }
  std::uint32_t salts() const { return static_cast<std::uint32_t>(ready_.size()); }
  std::size_t ready_count() const { return ready_count_; }

  void sent(OpenWindow& entry);
  void acknowledged(OpenWindow& entry, EpochMs now);
  // Back to ready; whether it landed does not matter, the next Put replaces whole values.
  void returned(OpenWindow& entry);
  // The table refused it for good: it waits for its next change and holds no offset.
  void refused(OpenWindow& entry, EpochMs now);
  void restore_refused(OpenWindow& entry);
  std::size_t refused_count() const { return refused_.size(); }
  // Lets refused windows go, those of hours below `below` and, of more than `most`, those of the oldest
  // hours: they count as acknowledged from now on. Returns them.
  std::vector<OpenWindow*> release_refused(HourStart below, std::size_t most);
  // Everything that is scheduled becomes ready now, for the end of a worker.
  void hurry();

  std::size_t size() const { return by_offset_.size(); }
  std::optional<Offset> lowest() const {
    return by_offset_.empty() ? std::nullopt : std::optional(by_offset_.begin()->first);
  }

 private:
  void schedule(OpenWindow& entry, EpochMs now);
  void make_ready(OpenWindow& entry);

  EmitPolicy policy_;
  std::int64_t ahead_ms_ = 0;
  Ready by_offset_;                                  // by first unacknowledged offset, all stages
  std::map<EpochMs, std::vector<OpenWindow*>> due_;  // by tenth of a second
  std::vector<Ready> ready_;                         // by salt, by first unsent offset
  std::size_t ready_count_ = 0;
  std::set<std::pair<HourStart, OpenWindow*>> refused_;
};

}  // namespace hourfold
