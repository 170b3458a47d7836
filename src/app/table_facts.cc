#include "app/table_facts.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "core/table_meta.h"

namespace hourfold {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

Result<StoredRow> read_meta_row(RollupTable& table) {
  auto row = table.get(std::string(meta_row_key()));
  if (!row) return row.error();
  if (!*row) return fatal("the table has no meta row: it was not created by `hourfold table create`");
  return std::move(**row);
}

Error unreadable(const StoredCell& cell) {
  return fatal("the table's meta row has " + cell.qualifier + " '" + cell.value + "', which is no number");
}

// Above what is there, also where the clock of another host was ahead.
EpochMs time_above(const StoredRow& row, EpochMs now) {
  EpochMs above = now;
  constexpr EpochMs kLast = std::numeric_limits<EpochMs>::max();
  for (const StoredCell& cell : row.cells) above = std::max(above, std::min(cell.timestamp, kLast - 1) + 1);
  return above;
}

Result<TableFacts> facts_in(const StoredRow& row) {
  TableFacts facts;
  bool found = false;
  for (const StoredCell& cell : row.cells) {
    if (cell.family != 'm') continue;
    const std::string_view name = cell.qualifier;
    if (name == kGenerationCell) {
      const auto value = number<std::int32_t>(cell.value);
      if (!value) return unreadable(cell);
      facts.generation = {*value};
      found = true;
    } else if (name == kReplacedFromCell) {
      const auto value = number<EpochMs>(cell.value);
      if (!value) return unreadable(cell);
      facts.replaced_from = {*value};
    } else if (name == kContributionsCell) {
      facts.several = cell.value == kSeveral;
    } else if (name.starts_with(kPartitionsCell)) {
      const auto value = number<std::int32_t>(cell.value);
      if (!value) return unreadable(cell);
      facts.partitions[std::string(name.substr(kPartitionsCell.size()))] = *value;
    }
  }
  if (!found) return fatal("the table's meta row has no generation");
  return facts;
}

}  // namespace

Result<TableFacts> read_table_facts(RollupTable& table) {
  const auto row = read_meta_row(table);
  return row ? facts_in(*row) : Result<TableFacts>(row.error());
}

Result<void> raise_generation(RollupTable& table, Generation to, HourStart replaced_from,
                              const std::string& owner, EpochMs now) {
  const auto row = read_meta_row(table);
  if (!row) return row.error();
  const auto facts = facts_in(*row);
  if (!facts) return facts.error();
  if (facts->generation == to) return {};
  if (facts->generation > to) {
    return fatal("the table is of generation " + std::to_string(facts->generation.value) +
                 " now: another rebuild was faster, this one of generation " + std::to_string(to.value) +
                 " is of no use any more");
  }
  const RowPut put = generation_row(to, replaced_from, owner, time_above(*row, now));
  return table.put(std::span(&put, 1));
}

Result<void> note_partitions(RollupTable& table, const std::string& topic, std::int32_t partitions,
                             bool several, EpochMs now) {
  const auto row = read_meta_row(table);
  if (!row) return row.error();
  const auto facts = facts_in(*row);
  if (!facts) return facts.error();
  const auto noted = facts->partitions.find(topic);
  const bool same = noted != facts->partitions.end() && noted->second == partitions;
  if (same && (facts->several || !several)) return {};
  const RowPut put = partitions_row(topic, partitions, several || facts->several, time_above(*row, now));
  return table.put(std::span(&put, 1));
}

}  // namespace hourfold
