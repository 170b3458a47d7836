#include "app/verify_rows.h"

#include <algorithm>
#include <utility>

#include "app/output.h"
#include "core/contribution_codec.h"

namespace hourfold {
namespace {

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kShown = 64;
  std::string text = "0x";
  for (const char c : bytes.substr(0, kShown)) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  if (bytes.size() > kShown) text += "... (" + std::to_string(bytes.size()) + " bytes)";
  return text;
}

std::string number(double value) {
  std::string text;
  append_number(text, value);
  return text;
}

std::string rollup_text(const Rollup& rollup) {
  return "min " + number(rollup.min) + " max " + number(rollup.max) + " sum " + number(rollup.sum) +
         " count " + std::to_string(rollup.count);
}

std::string wide_text(std::string_view qualifier, const Rollup& rollup) {
  if (qualifier.ends_with(":min")) return number(rollup.min);
  if (qualifier.ends_with(":max")) return number(rollup.max);
  if (qualifier.ends_with(":sum")) return number(rollup.sum);
  return std::to_string(rollup.count);
}

std::string contribution_text(std::string_view value) {
  SchemaPool schemas;
  const auto window = read_contribution(value, schemas);
  if (!window) return hex(value);
  std::string text = std::to_string(window->revision().value) + " readings up to offset " +
                     std::to_string(window->last_position().offset.value);
  for (std::size_t slot = 0; slot < window->schema().size() && slot < 4; ++slot)
    text += ", " + window->schema().name(slot) + " " + rollup_text(window->aggregate(slot).rollup());
  return text;
}

using CellKey = std::pair<char, std::string_view>;
struct CellContent {
  std::string_view value;
  std::int64_t timestamp;
};
using Cells = std::map<CellKey, CellContent>;

Cells cells_of(const StoredRow& row, bool with_contributions) {
  Cells cells;
  for (const StoredCell& cell : row.cells) {
    if (cell.family == 's' && !with_contributions) continue;
    cells.emplace(CellKey{cell.family, cell.qualifier}, CellContent{cell.value, cell.timestamp});
  }
  return cells;
}

}  // namespace

std::string_view to_string(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kMissingRow:
      return "missing_row";
    case DifferenceKind::kExtraRow:
      return "extra_row";
    case DifferenceKind::kMissingCell:
      return "missing_cell";
    case DifferenceKind::kExtraCell:
      return "extra_cell";
    case DifferenceKind::kOtherValue:
      return "other_value";
    case DifferenceKind::kOtherTimestamp:
      return "other_timestamp";
    case DifferenceKind::kCount:
      break;
  }
  return "?";
}

std::string cell_text(char family, std::string_view qualifier, std::string_view value, RowLayout layout) {
  if (family == 's') return contribution_text(value);
  std::string_view metric;
  Rollup rollup;
  if (family != 'r' || !read_rollup_cell(qualifier, value, layout, metric, rollup)) return hex(value);
  return layout == RowLayout::kPacked ? rollup_text(rollup) : wide_text(qualifier, rollup);
}

std::string timestamp_text(std::int64_t timestamp, HourStart hour) {
  const CellStamp stamp = split_cell_timestamp(timestamp, hour);
  if (stamp.generation.value < 0) return std::to_string(timestamp) + " (before the hour)";
  return std::to_string(timestamp) + " (generation " + std::to_string(stamp.generation.value) +
         ", revision " + std::to_string(stamp.revision.value) + ")";
}

std::uint64_t compare_row(const StoredRow& expected, const StoredRow& found, const Difference& about,
                          RowLayout layout, bool with_contributions, const OnDifference& on_difference) {
  const Cells wanted = cells_of(expected, with_contributions);
  const Cells there = cells_of(found, with_contributions);
  const auto differs = [&](DifferenceKind kind, const CellKey& key, std::string want, std::string have) {
    Difference difference = about;
    difference.kind = kind;
    difference.cell = std::string(1, key.first) + ":" + std::string(key.second);
    difference.expected = std::move(want);
    difference.found = std::move(have);
    on_difference(std::move(difference));
  };
  const auto text = [&](const CellKey& key, const CellContent& cell) {
    return cell_text(key.first, key.second, cell.value, layout);
  };
  for (const auto& [key, cell] : wanted) {
    const auto at = there.find(key);
    if (at == there.end()) {
      differs(DifferenceKind::kMissingCell, key, text(key, cell), "");
    } else if (at->second.value != cell.value) {
      differs(DifferenceKind::kOtherValue, key, text(key, cell), text(key, at->second));
    } else if (at->second.timestamp != cell.timestamp) {
      differs(DifferenceKind::kOtherTimestamp, key, timestamp_text(cell.timestamp, about.hour),
              timestamp_text(at->second.timestamp, about.hour));
    }
  }
  for (const auto& [key, cell] : there) {
    if (!wanted.contains(key)) differs(DifferenceKind::kExtraCell, key, "", text(key, cell));
  }
  return wanted.size();
}

std::string_view to_string(RowStanding standing) {
  switch (standing) {
    case RowStanding::kComparable:
      return "comparable";
    case RowStanding::kNewer:
      return "newer";
    case RowStanding::kPartlyInLog:
      return "partly_in_log";
    case RowStanding::kExpiring:
      return "expiring";
    case RowStanding::kOlderGeneration:
      return "older_generation";
    case RowStanding::kOtherLog:
      return "other_log";
    case RowStanding::kCount:
      break;
  }
  return "?";
}

std::string_view why_left_out(RowStanding standing) {
  switch (standing) {
    case RowStanding::kNewer:
      return "hold readings behind the end of what was read again";
    case RowStanding::kPartlyInLog:
      return "of hours whose readings are no longer wholly in the log, or were folded under other rules";
    case RowStanding::kExpiring:
      return "older than the table's TTL";
    case RowStanding::kOlderGeneration:
      return "left as they were when the table was rebuilt";
    case RowStanding::kOtherLog:
      return "of readings that arrived before this log began (the topic was created again)";
    case RowStanding::kComparable:
    case RowStanding::kCount:
      break;
  }
  return "";
}

RowStanding standing_of(HourStart hour, const std::vector<FoundContribution>& found, bool expected,
                        bool any_partition, const std::map<PartitionId, PartitionFacts>& partitions,
                        Generation generation, HourStart expires_before) {
  if (hour < expires_before) return RowStanding::kExpiring;
  // Whose row it is, is not known without a contribution: then every partition has to be sure.
  std::vector<const PartitionFacts*> facts;
  for (const FoundContribution& one : found) {
    if (const auto at = partitions.find(one.partition); at != partitions.end()) facts.push_back(&at->second);
  }
  if (facts.empty() || any_partition) {
    for (const auto& [partition, of_partition] : partitions) facts.push_back(&of_partition);
  }
  if (std::ranges::any_of(facts, [&](const PartitionFacts* of) { return hour < of->whole_from; }))
    return RowStanding::kPartlyInLog;
  for (const FoundContribution& one : found) {
    const auto at = partitions.find(one.partition);
    if (at == partitions.end()) continue;
    if (one.last_position.offset >= at->second.log.end) return RowStanding::kNewer;
    if (one.generation < generation && hour < at->second.rebuilt_from) return RowStanding::kOlderGeneration;
    if (!expected && one.last_arrival_ms < at->second.first_arrival_ms) return RowStanding::kOtherLog;
  }
  return RowStanding::kComparable;
}

}  // namespace hourfold
