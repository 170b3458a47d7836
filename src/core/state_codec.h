// Values of the window store besides windows (which are stored as core/contribution_codec.h writes them): a
// reading that waits for a look-up, the marks of a partition. And the text that is committed beside an
// offset.
//
// Bytes: docs/FORMATS.md, "State"; pinned by tests/unit/state_codec_test.cc.
// Errors: Fatal for a newer version or for bytes that are none.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/reading.h"
#include "core/record.h"
#include "core/result.h"
#include "core/types.h"

namespace hourfold {

// A reading on its way to a window that must first be looked up.
struct WaitingReading {
  Position position;
  std::string device;
  EpochMs event_ms = 0;
  EpochMs arrival_ms = 0;
  std::vector<std::pair<std::string, double>> metrics;
  // For the side topic, should it not be folded after all: the record if this is its only reading, else the
  // reading alone.
  RecordCopy original;

  std::size_t memory_bytes() const;
};

// The reading in canonical JSON; numbers read back exactly.
std::string to_canonical_json(const WaitingReading& reading);

void append_waiting_reading(std::string& out, const WaitingReading& reading);
Result<WaitingReading> read_waiting_reading(Position position, std::string_view bytes);

// The highest hour of all accepted readings before an offset, known without a clock. lowest(): none yet;
// highest(): not known, which means that any hour may have a part in the table.
class HourTrack {
 public:
  explicit HourTrack(HourStart base = HourStart::lowest()) : base_(base) {}

  void accept(Offset offset, HourStart hour) {
    if (hour > highest()) rises_.emplace_back(offset, hour);
  }
  HourStart highest() const { return rises_.empty() ? base_ : rises_.back().second; }
  HourStart before(Offset offset) const;
  // Rises before an offset that nobody will ask below of again are folded into the base.
  void forget_before(Offset offset);

  HourStart base() const { return base_; }
  const std::deque<std::pair<Offset, HourStart>>& rises() const { return rises_; }

 private:
  HourStart base_;
  std::deque<std::pair<Offset, HourStart>> rises_;  // ascending in both
};

struct LostRange {
  Offset from;
  Offset to;  // exclusive
  bool operator==(const LostRange&) const = default;
};

// A record of which something was folded. When its offset is read again, its time must be the same: a topic
// that was deleted and created again starts its offsets over.
struct FoldedRecord {
  Offset offset;
  EpochMs timestamp_ms = 0;
  bool operator==(const FoldedRecord&) const = default;
};

// What a rebuild, and the service that it becomes, must not forget.
struct RebuildMarks {
  Offset end;                                   // of the log when it began: nothing is written before
  HourStart whole_from = HourStart::lowest();   // the log has all readings of the hours from this one on
  bool only_whole = false;                      // readings of earlier hours before `end` are left out
  WindowKey released{HourStart::lowest(), ""};  // windows below this key are emitted as a service does
  std::map<HourStart, Offset> held;             // lowest offset of the windows that are not, by hour
  bool operator==(const RebuildMarks&) const = default;
};

struct StateMarks {
  Offset next_offset;                          // S: first offset whose effect is not in the state
  HourStart look_below = HourStart::lowest();  // windows not held are looked up at and below this hour
  HourStart expire_below = HourStart::lowest();
  EpochMs highest_arrival_ms = 0;
  HourTrack hours;
  std::optional<FoldedRecord> last_folded;
  std::int32_t partition_count = 0;
  Generation generation;
  std::string fingerprint;
  std::vector<LostRange> lost;
  std::vector<std::pair<Offset, std::string>>
      fingerprint_changes;  // from this offset on, the semantics named
  std::optional<RebuildMarks> rebuild;
};

std::string write_state_marks(const StateMarks& marks);
Result<StateMarks> read_state_marks(std::string_view text);

// What is committed beside the offset C, in ASCII.
struct CommitMetadata {
  HourStart highest_hour = HourStart::highest();  // of all accepted readings before C
  std::int32_t partition_count = 0;               // 0: not known
  std::optional<FoldedRecord> last_folded;
  std::string fingerprint;
  std::optional<RebuildMarks> rebuild;  // without what is released and held
};

std::string write_commit_metadata(const CommitMetadata& metadata);
// Anything that is not ours (empty, of another program, cut off) is unknown knowledge, never an error.
CommitMetadata read_commit_metadata(std::string_view text);

}  // namespace hourfold
