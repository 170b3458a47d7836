// What a rebuild may write when. A service writes every window that changed. A rebuild first reads to the
// end that the log had at its start, holding all windows back; then it releases them in the order of their
// keys, hour by hour, as far as it is allowed to. A released window is emitted as a service emits it.
//
// Invariants: the released windows are those below one key, which never goes back. Held windows need no
//             memory: the window store has them, and the gate knows the lowest offset of each held hour,
//             which the committed offset must not pass.
// Threads:    the partition's worker.
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/state_codec.h"
#include "core/types.h"

namespace hourfold {

class EmissionGate {
 public:
  // Without marks nothing is ever held.
  explicit EmissionGate(std::optional<RebuildMarks> marks);

  const std::optional<RebuildMarks>& marks() const { return marks_; }

  bool holds(HourStart hour, std::string_view device) const {
    return marks_ && (hour > marks_->released.hour ||
                      (hour == marks_->released.hour && device >= marks_->released.device));
  }
  // A reading at this offset was folded into a window that is held. In any order: some waited for a look-up.
  void hold(HourStart hour, Offset offset);
  // The lowest offset that a held window needs.
  std::optional<Offset> lowest() const {
    return lowest_.empty() ? std::nullopt : std::optional(lowest_.begin()->first);
  }
  // Of a held window of this hour: no reading of it that was held is below.
  Offset lowest_of(HourStart hour) const { return marks_->held.at(hour); }

  // Windows below the key are released from now on.
  void release_to(const WindowKey& key);
  // Windows of earlier hours have all been released.
  HourStart held_from() const { return marks_ ? marks_->released.hour : HourStart::highest(); }

  // The log does not have the hour wholly, and the reading does not count.
  bool leaves_out(HourStart hour, Offset offset) const {
    return marks_ && marks_->only_whole && hour < marks_->whole_from && offset < marks_->end;
  }
  // What an older generation has of the hour was made of readings that are all read again.
  bool replaces(HourStart hour) const { return marks_ && hour >= marks_->whole_from; }

 private:
  std::optional<RebuildMarks> marks_;
  std::set<std::pair<Offset, HourStart>> lowest_;  // marks_->held by offset
};

}  // namespace hourfold
