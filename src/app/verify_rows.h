// What `verify` finds when it holds a row of the table against the row that the log gives, cell by cell.
//
// Pure: rows come in, differences come out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rollup_row.h"
#include "core/types.h"
#include "core/window.h"
#include "ports/record_source.h"
#include "ports/rollup_table.h"

namespace hourfold {

enum class DifferenceKind : std::uint8_t {
  kMissingRow,  // the log gives a row that the table does not have
  kExtraRow,    // the table has a row that the log does not give
  kMissingCell,
  kExtraCell,
  kOtherValue,
  kOtherTimestamp,  // of equal values
  kCount
};
std::string_view to_string(DifferenceKind kind);  // "missing_row", ...

struct Difference {
  DifferenceKind kind = DifferenceKind::kMissingRow;
  std::string row;  // key, as bytes
  std::string device;
  HourStart hour;
  std::string cell;  // family:qualifier; empty: the whole row
  std::string expected;
  std::string found;
  std::optional<PartitionId> partition;  // whose readings made it
  std::optional<LogBounds> offsets;      // that were read again
  std::uint64_t cells = 1;
};
using OnDifference = std::function<void(Difference)>;

// Values as people read them: numbers that read back exactly, what a contribution holds, else the bytes in
// hex.
std::string cell_text(char family, std::string_view qualifier, std::string_view value, RowLayout layout);
std::string timestamp_text(std::int64_t timestamp, HourStart hour);

// Compares all cells of a row. `about` carries what is the same for every difference of the row. Returns how
// many cells were compared. with_contributions: false where the table may have dropped them by their age.
std::uint64_t compare_row(const StoredRow& expected, const StoredRow& found, const Difference& about,
                          RowLayout layout, bool with_contributions, const OnDifference& on_difference);

// --- which rows can be compared

// What is known of one partition's log.
struct PartitionFacts {
  LogBounds log;  // first offset still there; end: what was read again lies below
  HourStart whole_from = HourStart::lowest();  // the log has all readings of the hours from here on
  // Hours before it may have been left as they are by a rebuild.
  HourStart rebuilt_from = HourStart::lowest();
  EpochMs first_arrival_ms = 0;  // of the first reading in the log
};

enum class RowStanding : std::uint8_t {
  kComparable,
  kNewer,            // it holds a reading behind the end of what was read
  kPartlyInLog,      // its hour began before the log is whole
  kExpiring,         // older than the TTL of the table
  kOlderGeneration,  // left as it was when the table was rebuilt
  kOtherLog,         // made of readings that arrived before this log began: the topic was created again
  kCount
};
std::string_view to_string(RowStanding standing);
// In a sentence, why such rows are not compared.
std::string_view why_left_out(RowStanding standing);

// A contribution as it was found in a row.
struct FoundContribution {
  PartitionId partition;
  Revision revision;
  Position last_position;
  EpochMs last_arrival_ms = 0;
  Generation generation;
};

// expected: the log gives a row. any_partition: which of them contribute to a row does not follow from the
// row. expires_before: rows of hours below may be gone.
RowStanding standing_of(HourStart hour, const std::vector<FoundContribution>& found, bool expected,
                        bool any_partition, const std::map<PartitionId, PartitionFacts>& partitions,
                        Generation generation, HourStart expires_before);

}  // namespace hourfold
