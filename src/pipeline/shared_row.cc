#include "pipeline/shared_row.h"

#include <algorithm>
#include <map>

#include "core/check.h"
#include "core/contribution_codec.h"

namespace hourfold {
namespace {

constexpr std::size_t kRowsAtOnce = 100;  // a contribution may have 1 MiB

HourStart hour_of(std::string_view key) {
  const auto parts = split_row_key(key);
  HF_CHECK(parts);
  return parts->hour;
}

}  // namespace

std::int64_t merged_timestamp(HourStart hour, Generation generation, Revision sum) {
  return cell_timestamp(hour, generation, std::min(kMaxRevision, {kMergedRevision.value + sum.value}));
}

SharedRow::SharedRow(const StoredRow& row, HourStart hour, const SharedRowRules& rules)
    : key_(row.key), hour_(hour), rules_(rules) {
  for (const StoredCell& cell : row.cells) {
    if (cell.family == 'r') rollups_at_ = std::max(rollups_at_.value_or(cell.timestamp), cell.timestamp);
    if (cell.family != 's') continue;
    const CellStamp stamp = split_cell_timestamp(cell.timestamp, hour);
    if (stamp.generation < rules.generation && hour >= rules.replaced_from) continue;
    contributions_.push_back(&cell);
    sum_.value += stamp.revision.value;
  }
}

Result<SharedRow> SharedRow::of(const StoredRow& row, HourStart hour, const SharedRowRules& rules) {
  for (const StoredCell& cell : row.cells) {
    const CellStamp stamp = split_cell_timestamp(cell.timestamp, hour);
    if (cell.family == 's' && stamp.generation > rules.generation) {
      return fatal("the table holds generation " + std::to_string(stamp.generation.value) +
                   ", this worker is of generation " + std::to_string(rules.generation.value) +
                   ": the table was rebuilt, and the service of the new generation goes on with it.");
    }
  }
  return SharedRow(row, hour, rules);
}

bool SharedRow::incomplete() const {
  if (!rollups_at_) return false;
  const CellStamp stamp = split_cell_timestamp(*rollups_at_, hour_);
  if (stamp.generation < rules_.generation && hour_ >= rules_.replaced_from) return false;
  const bool merged = stamp.revision >= kMergedRevision;
  return sum_.value < (merged ? stamp.revision.value - kMergedRevision.value : stamp.revision.value);
}

Result<RowPut> SharedRow::merge() const {
  SchemaPool schemas;
  std::map<std::string, Aggregate, std::less<>> metrics;
  for (const StoredCell* cell : contributions_) {
    const auto window = read_contribution(cell->value, schemas);
    if (!window) return window.error();
    for (std::size_t slot = 0; slot < window->schema().size(); ++slot) {
      const Aggregate& aggregate = window->aggregate(slot);
      const auto [at, first] = metrics.try_emplace(window->schema().name(slot), aggregate);
      if (!first) at->second.merge(aggregate);
    }
  }
  RowPut put(key_, timestamp());
  for (const auto& [name, aggregate] : metrics)
    add_rollup_cells(put, name, aggregate.rollup(), rules_.layout);
  return put;
}

Result<std::vector<RowPut>> merges_of(std::span<const StoredRow> rows, const SharedRowRules& rules) {
  std::vector<RowPut> merges;
  for (const StoredRow& row : rows) {
    auto shared = SharedRow::of(row, hour_of(row.key), rules);
    if (!shared) return shared.error();
    if (shared->incomplete())
      return refused("a contribution to the row is gone: its rollups were made of more than what is there");
    if (!shared->behind()) continue;
    auto merged = shared->merge();
    if (!merged) return merged.error();
    merges.push_back(std::move(*merged));
  }
  return merges;
}

Result<void> put_shared(RollupTable& table, std::span<const RowPut> contributions,
                        const SharedRowRules& rules) {
  if (auto done = table.put(contributions); !done) return done;
  // From here on something has landed: what fails is tried again from the start.
  const auto later = [](const Error& error) {
    return error.kind == ErrorKind::kUnavailable ? unknown(error.message) : error;
  };
  for (std::size_t begin = 0; begin < contributions.size(); begin += kRowsAtOnce) {
    std::vector<std::string> keys;
    for (const RowPut& put :
         contributions.subspan(begin, std::min(kRowsAtOnce, contributions.size() - begin)))
      keys.push_back(put.key());
    const auto rows = table.read(keys);
    if (!rows) return later(rows.error());
    const auto merges = merges_of(*rows, rules);
    if (!merges) return merges.error();
    if (merges->empty()) continue;
    if (auto done = table.put(*merges); !done) return later(done.error());
  }
  return {};
}

RowLookup look_up_in(const StoredRow& row, const SharedRow& shared, std::string_view contribution) {
  RowLookup found = look_up_in(row, contribution);
  found.has_rollup = shared.incomplete();
  found.behind = shared.behind();
  return found;
}

Result<std::vector<RowLookup>> look_up_shared(RollupTable& table, std::span<const std::string> keys,
                                              std::string_view contribution, const SharedRowRules& rules) {
  std::vector<RowLookup> found;
  found.reserve(keys.size());
  for (std::size_t begin = 0; begin < keys.size(); begin += kRowsAtOnce) {
    const auto rows = table.read(keys.subspan(begin, std::min(kRowsAtOnce, keys.size() - begin)));
    if (!rows) return rows.error();
    for (const StoredRow& row : *rows) {
      auto shared = SharedRow::of(row, hour_of(row.key), rules);
      if (!shared) return shared.error();
      found.push_back(look_up_in(row, *shared, contribution));
    }
  }
  return found;
}

}  // namespace hourfold
