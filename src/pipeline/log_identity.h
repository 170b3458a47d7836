// Whether the log that is read is still the one that the state and the table were made from. A topic that was
// deleted and created again starts its offsets over, and a reading at or below a window's last position would
// be taken for one that was counted.
//
// Three signs, each of which stops the partition: the record at the offset of the last folded one has another
// time; the reading at a contribution's last position has another arrival, or is none; a contribution holds a
// reading at or beyond the end of the log. The end is as old as the last answer of the broker, so a
// contribution beyond it is a doubt first: whoever drives the worker asks the log anew and tells.
//
// Not noticed: a new log that has grown past all of these before it is read.
// Threads: the partition's worker. Source: docs/ARCHITECTURE.md, "A topic created again".
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/reading.h"
#include "core/result.h"
#include "core/state_codec.h"
#include "core/window.h"
#include "ports/record_source.h"

namespace hourfold {

class LogIdentity {
 public:
  struct Known {
    Offset end;                               // of the log, as last heard
    std::optional<FoldedRecord> last_folded;  // the topic must still have it as it was
    // Where a reading's arrival comes from may have changed since the contributions were made: arrivals are
    // not compared.
    bool rules_changed = false;
  };
  // name: of the partition, for messages.
  LogIdentity(std::string name, Known known) : name_(std::move(name)), known_(std::move(known)) {}

  // Of each record in offset order, with its readings (none of a tombstone).
  Result<void> check_record(const Record& record, std::span<const ParsedReading> readings);
  // Of a reading that its window says it has counted.
  Result<void> check_counted(const Window& window, Position position, EpochMs arrival_ms) const;
  // A look-up brought this contribution; next: the offset that is read next.
  void met(const Window& contribution, Offset next);

  // The highest offset that the table says was read and the log, as far as known, does not reach.
  std::optional<Offset> doubted() const { return doubted_; }
  // The answer to a question that was put to the log after doubted() gave that offset.
  Result<void> log_ends_at(Offset end, Offset doubted);

 private:
  // Enough to notice; of more, those that are reached first.
  static constexpr std::size_t kMaxAhead = 4096;

  std::string name_;
  Known known_;
  std::optional<Offset> doubted_;
  std::map<Position, EpochMs>
      ahead_;  // arrival of readings that the table has counted and we have not reached
};

}  // namespace hourfold
