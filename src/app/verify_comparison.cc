#include "app/verify_comparison.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/contribution_codec.h"
#include "core/reading.h"
#include "pipeline/shared_row.h"

namespace hourfold {
namespace {

constexpr HourStart kFirstHour{0};
constexpr HourStart kEndHour{HourStart::of(kMaxEventMs).ms + kHourMs};

// Of a cell in `s`; empty if it is of another topic.
std::optional<PartitionId> partition_of(std::string_view qualifier, std::string_view topic) {
  if (!qualifier.starts_with(topic) || qualifier.substr(topic.size(), 1) != "/") return std::nullopt;
  const std::string_view number = qualifier.substr(topic.size() + 1);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || value < 0) return std::nullopt;
  return PartitionId{value};
}

bool is_merged(const StoredRow& row, HourStart hour) {
  return std::ranges::any_of(row.cells, [&](const StoredCell& cell) {
    return cell.family == 'r' && split_cell_timestamp(cell.timestamp, hour).revision >= kMergedRevision;
  });
}

void add_cells(StoredRow& row, const RowPut& put) {
  for (std::size_t i = 0; i < put.cell_count(); ++i) {
    const RowPut::Cell cell = put.cell(i);
    row.cells.push_back({cell.family, std::string(cell.qualifier), std::string(cell.value), put.timestamp()});
  }
}

}  // namespace

std::uint64_t VerifyCounts::differences() const {
  return std::accumulate(differing_cells.begin(), differing_cells.end(), std::uint64_t{0});
}

bool VerifyComparison::selected(HourStart hour, std::string_view device) const {
  return hour >= scope_.hours.from && hour < scope_.hours.to && scope_.devices.takes(device);
}

// Devices that are named are sought by key; patterns need the whole table.
std::vector<std::pair<std::string, std::string>> VerifyComparison::key_ranges() const {
  const std::vector<std::string> names = scope_.devices.names();
  if (names.empty()) return {{"", std::string(meta_row_key())}};
  const HourStart from = std::max(scope_.hours.from, kFirstHour);
  const HourStart to = std::min(scope_.hours.to, kEndHour);
  std::vector<std::pair<std::string, std::string>> ranges;
  ranges.reserve(names.size());
  for (const std::string& name : names) {
    ranges.emplace_back(row_key(name, from, scope_.table.buckets), row_key(name, to, scope_.table.buckets));
  }
  std::ranges::sort(ranges);
  ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
  return ranges;
}

Result<void> VerifyComparison::compare(RollupTable& table, const std::function<bool(std::uint64_t)>& on_row) {
  std::uint64_t rows = 0;
  Result<void> outcome;
  for (const auto& [from, to] : key_ranges()) {
    auto scanned = table.scan(from, to, true, [&](const StoredRow& row) {
      outcome = compare_row_of_table(row);
      return outcome.has_value() && on_row(++rows);
    });
    if (!outcome) return outcome;
    if (!scanned) return scanned;
  }
  for (const auto& [partition, facts] : scope_.partitions) {
    if (auto found = find_missing(partition, facts); !found) return found;
  }
  return {};
}

Result<void> VerifyComparison::compare_row_of_table(const StoredRow& row) {
  const auto key = split_row_key(row.key);
  if (key && row_key(key->device, key->hour, scope_.table.buckets) == row.key)
    return selected(key->hour, key->device) ? compare_hour(row, *key) : Result<void>();
  if (!scope_.devices.takes_all()) return {};
  Difference difference = about(row.key, key ? key->hour : HourStart{0}, key ? key->device : "", {});
  difference.kind = DifferenceKind::kExtraRow;
  difference.found =
      key ? "a row with another salt than its device has" : "a key that is none of a rollup row";
  difference.cells = row.cells.size();
  ++counts_.rows;
  ++counts_.differing_rows;
  differs(std::move(difference));
  return {};
}

std::vector<FoundContribution> VerifyComparison::contributions_of(const StoredRow& row, HourStart hour) {
  std::vector<FoundContribution> found;
  for (const StoredCell& cell : row.cells) {
    const auto partition =
        cell.family == 's' ? partition_of(cell.qualifier, scope_.topic) : std::optional<PartitionId>();
    if (!partition) continue;
    const CellStamp stamp = split_cell_timestamp(cell.timestamp, hour);
    // Bytes that cannot be read are another value, which the comparison says.
    FoundContribution one{
        *partition, stamp.revision, {}, std::numeric_limits<EpochMs>::max(), stamp.generation};
    if (const auto window = read_contribution(cell.value, schemas_)) {
      one.last_position = window->last_position();
      one.last_arrival_ms = window->last_arrival_ms();
    }
    found.push_back(one);
  }
  return found;
}

// The partitions that the row names are asked first.
std::vector<PartitionId> VerifyComparison::asked_for(const std::vector<FoundContribution>& found) const {
  std::vector<PartitionId> asked;
  asked.reserve(found.size() + scope_.partitions.size());
  const auto add = [&](PartitionId partition) {
    if (std::ranges::find(asked, partition) == asked.end()) asked.push_back(partition);
  };
  for (const FoundContribution& one : found) add(one.partition);
  for (const auto& [partition, facts] : scope_.partitions) add(partition);
  return asked;
}

Result<std::vector<VerifyComparison::Expected>> VerifyComparison::expected_of(
    const std::vector<PartitionId>& asked, HourStart hour, std::string_view device) {
  std::vector<Expected> expected;
  for (const PartitionId partition : asked) {
    auto bytes = recomputed_.find(partition, hour, device);
    if (!bytes) return bytes.error();
    if (!*bytes) continue;
    auto window = read_contribution(**bytes, schemas_);
    if (!window) return window.error();
    if (auto marked = recomputed_.mark_seen(partition, hour, device); !marked) return marked.error();
    expected.push_back({partition, std::move(*window)});
    if (!scope_.several) break;
  }
  return expected;
}

Result<void> VerifyComparison::compare_hour(const StoredRow& row, const RowKeyParts& key) {
  const auto found = contributions_of(row, key.hour);
  auto expected = expected_of(asked_for(found), key.hour, key.device);
  if (!expected) return expected.error();
  const RowStanding standing = standing_of(key.hour, found, !expected->empty(), scope_.several,
                                           scope_.partitions, scope_.generation, scope_.expires_before);
  if (standing != RowStanding::kComparable) {
    ++counts_.left_out[static_cast<std::size_t>(standing)];
    return {};
  }
  ++counts_.rows;
  const std::uint64_t before = counts_.differences();
  if (expected->empty()) {
    Difference difference = about(row.key, key.hour, key.device,
                                  found.empty() ? std::nullopt : std::optional(found.front().partition));
    difference.kind = DifferenceKind::kExtraRow;
    difference.found = std::to_string(row.cells.size()) + " cells";
    difference.cells = row.cells.size();
    differs(std::move(difference));
  } else {
    // With one contribution both forms are right.
    const bool merged = expected->size() > 1 || is_merged(row, key.hour);
    const auto wanted = row_of(*expected, merged, key.hour, key.device);
    if (!wanted) return wanted.error();
    counts_.cells +=
        compare_row(*wanted, row, about(row.key, key.hour, key.device, expected->front().partition),
                    scope_.table.layout, key.hour >= scope_.contributions_expire_before,
                    [this](Difference difference) { differs(std::move(difference)); });
  }
  if (counts_.differences() != before) ++counts_.differing_rows;
  return {};
}

Result<void> VerifyComparison::find_missing(PartitionId partition, const PartitionFacts& facts) {
  Result<void> broken;
  auto visited = recomputed_.each_unseen(
      partition, [&](HourStart hour, std::string_view device, std::string_view /*bytes*/) {
        if (!selected(hour, device) || hour < facts.whole_from || hour < scope_.expires_before || !broken)
          return;
        broken = missing(partition, hour, device);
      });
  if (!visited) return visited;
  return broken;
}

Result<void> VerifyComparison::missing(PartitionId partition, HourStart hour, std::string_view device) {
  const auto expected = expected_of(scope_.several ? asked_for({}) : std::vector{partition}, hour, device);
  if (!expected) return expected.error();
  const auto row = row_of(*expected, expected->size() > 1, hour, device);
  if (!row) return row.error();
  Difference difference = about(row->key, hour, device, partition);
  difference.kind = DifferenceKind::kMissingRow;
  difference.expected =
      std::to_string(row->cells.size()) + " cells at " + timestamp_text(row->cells.front().timestamp, hour);
  difference.cells = row->cells.size();
  ++counts_.rows;
  ++counts_.differing_rows;
  counts_.cells += row->cells.size();
  differs(std::move(difference));
  return {};
}

Result<StoredRow> VerifyComparison::row_of(const std::vector<Expected>& expected, bool merged, HourStart hour,
                                           std::string_view device) const {
  StoredRow row;
  row.key = row_key(device, hour, scope_.table.buckets);
  for (const Expected& one : expected) {
    const std::string qualifier = contribution_qualifier(scope_.topic, one.partition);
    add_cells(row, merged ? make_contribution_put(one.window, device, hour, scope_.table.buckets,
                                                  scope_.generation, qualifier)
                          : make_row_put(one.window, device, hour, scope_.table.buckets, scope_.table.layout,
                                         scope_.generation, qualifier));
  }
  std::ranges::sort(row.cells, {},
                    [](const StoredCell& cell) { return std::tie(cell.family, cell.qualifier); });
  if (!merged) return row;
  const auto shared =
      SharedRow::of(row, hour, {scope_.table.layout, scope_.generation, HourStart::highest()});
  if (!shared) return shared.error();
  const auto rollups = shared->merge();
  if (!rollups) return rollups.error();
  add_cells(row, *rollups);
  return row;
}

Difference VerifyComparison::about(const std::string& row, HourStart hour, std::string_view device,
                                   std::optional<PartitionId> partition) const {
  Difference difference;
  difference.row = row;
  difference.hour = hour;
  difference.device = device;
  if (!partition) return difference;
  difference.partition = partition;
  if (const auto at = scope_.partitions.find(*partition); at != scope_.partitions.end())
    difference.offsets = at->second.log;
  return difference;
}

void VerifyComparison::differs(Difference difference) {
  counts_.differing_cells[static_cast<std::size_t>(difference.kind)] += difference.cells;
  on_difference_(std::move(difference));
}

}  // namespace hourfold
