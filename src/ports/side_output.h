// Where readings go that are not folded: dead letters, quarantine, archive. At least once; offset and index
// name a record.
//
// Threads:   one object per partition worker, used by that worker's thread alone.
// Ownership: send() copies what it needs.
// Errors:    Unavailable (the local queue is full: offer it again later), Refused (can never be written, such
// as one above the size limit).
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

class SideOutput {
 public:
  virtual ~SideOutput() = default;
  virtual Result<void> send(const SideRecord& record) = 0;
  // Appends the positions that were acknowledged since the last call, and those that failed and must be sent
  // again.
  virtual void take_outcomes(std::vector<Position>& acknowledged, std::vector<Position>& failed) = 0;
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
