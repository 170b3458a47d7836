// Where readings go that are not folded: dead letters, quarantine, archive. At least once; offset and index
// name a record.
//
// Threads:   one object per partition worker, used by that worker's thread alone.
// Ownership: send() copies what it needs.
// Errors:    Unavailable (the local queue is full: offer it again later), Refused (can never be written, in
// no form; see docs/decisions/0010).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/types.h"
#include "ports/record_source.h"

namespace hourfold {

enum class SideChannel : std::uint8_t { kDeadLetter, kQuarantine, kArchive };
constexpr const char* to_string(SideChannel channel) {
  switch (channel) {
    case SideChannel::kDeadLetter:
      return "dead_letter";
    case SideChannel::kQuarantine:
      return "quarantine";
    case SideChannel::kArchive:
      return "archive";
  }
  return "?";
}

// The record as it was, and why it is here. Written with the original key, value, headers and timestamp, plus
// the headers hourfold.reason, hourfold.topic, hourfold.partition, hourfold.offset, hourfold.index (decimal
// text), hourfold.detail if not empty.
struct SideRecord {
  SideChannel channel = SideChannel::kDeadLetter;
  std::string reason;
  std::string detail;
  std::string topic;
  PartitionId partition;
  Position position;
  EpochMs timestamp_ms = -1;
  std::optional<std::string> key;
  std::optional<std::string> value;
  RecordHeaders headers;
};

// What became of records since the last time it was asked for.
struct SideOutcomes {
  struct Refusal {
    Position position;
    std::string why;
  };
  std::vector<Position> acknowledged;
  std::vector<Position> failed;  // to be sent again
  std::vector<Refusal> refused;  // can never be written, in no form
  std::uint64_t reduced = 0;     // of those acknowledged: written without a part that the topic did not take
};

class SideOutput {
 public:
  virtual ~SideOutput() = default;
  virtual Result<void> send(const SideRecord& record) = 0;
  // Appends; each outcome is told once.
  virtual void take_outcomes(SideOutcomes& outcomes) = 0;
};

// Shared by all workers; open() may be called from any thread.
class SideOutputs {
 public:
  virtual ~SideOutputs() = default;
  // That the destinations exist and take records. Unavailable: not (yet) there.
  virtual Result<void> check() = 0;
  virtual std::unique_ptr<SideOutput> open(PartitionId partition) = 0;
};

}  // namespace hourfold
