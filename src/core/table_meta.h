// What a table says of itself: the settings that row keys and cells depend on, in the meta row of every table
// and in the attributes of an HBase table. Texts, so that any client can read and an operator can change
// them.
//
// Bytes: docs/FORMATS.md, "Meta row".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/rollup_row.h"
#include "core/types.h"

namespace hourfold {

// Format of rows and contributions; a table of a higher one is not ours to touch.
inline constexpr int kTableVersion = 1;

struct TableMeta {
  std::uint32_t buckets = 0;
  RowLayout layout = RowLayout::kWide;
  int version = kTableVersion;
};

std::string_view to_string(RowLayout layout);  // "wide", "packed"

// "buckets", "layout", "version": the qualifiers in family `m`, and behind "hourfold." the attributes.
std::map<std::string, std::string> describe(const TableMeta& meta);
// Empty where one is missing or makes no sense.
std::optional<TableMeta> read_description(const std::map<std::string, std::string>& texts);

// The meta row of a new table: its description, generation 0 and the time of creation.
RowPut new_meta_row(const TableMeta& meta, EpochMs now);
// What a rebuild changes of it. The timestamp must be above that of what is there.
RowPut generation_row(Generation generation, HourStart replaced_from, std::string_view owner,
                      EpochMs timestamp);
// How many partitions a topic has whose readings go into the table, and whether its rows have several
// contributions for that or another reason.
RowPut partitions_row(std::string_view topic, std::int32_t partitions, bool several, EpochMs timestamp);

inline constexpr std::string_view kGenerationCell = "generation";
inline constexpr std::string_view kReplacedFromCell = "replaced_from";
inline constexpr std::string_view kContributionsCell = "contributions";
inline constexpr std::string_view kPartitionsCell = "partitions.";  // and the topic
inline constexpr std::string_view kSeveral = "several";

}  // namespace hourfold
