#include "app/query_rollups.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/reading.h"

namespace hourfold {
namespace {

// The first hour of 1970: readings have no earlier ones. The last one is before the year 10000.
constexpr HourStart kFirstHour{0};
constexpr HourStart kEndHour{HourStart::of(kMaxEventMs).ms + kHourMs};

// Adds the rows of a scan to the series.
class Collector {
 public:
  Collector(const RollupQuery& query, RowLayout layout) : query_(query), layout_(layout) {}

  void add(const StoredRow& row) {
    const auto key = split_row_key(row.key);
    if (!key || key->device != query_.device) return;
    rollups_.clear();
    for (const StoredCell& cell : row.cells) {
      if (cell.family == 'r') read(cell);
    }
    const EpochMs start = step_start(key->hour.ms, query_.step);
    ++found_.hours;
    for (const auto& [metric, rollup] : rollups_) {
      if (rollup.count > 0) add(std::string(metric), start, rollup);
    }
  }

  DeviceRollups take() {
    found_.other_metrics.assign(others_.begin(), others_.end());
    return std::move(found_);
  }

 private:
  // Once to learn the metric, once into its rollup. The cells of a metric lie side by side, but for strange
  // names.
  void read(const StoredCell& cell) {
    Rollup part;
    std::string_view metric;
    if (!read_rollup_cell(cell.qualifier, cell.value, layout_, metric, part)) return;
    auto known = std::find_if(rollups_.rbegin(), rollups_.rend(),
                              [&](const auto& entry) { return entry.first == metric; });
    if (known == rollups_.rend()) {
      rollups_.emplace_back(metric, Rollup{});
      known = rollups_.rbegin();
    }
    read_rollup_cell(cell.qualifier, cell.value, layout_, metric, known->second);
  }

  void add(const std::string& metric, EpochMs start, const Rollup& rollup) {
    const auto& wanted = query_.metrics;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), metric) == wanted.end()) {
      others_.insert(metric);
      return;
    }
    if (found_.series.empty()) found_.first = start;
    found_.last = start;
    const Aggregate hour{rollup.min, rollup.max, rollup.sum, 0.0, rollup.count};
    const auto [entry, is_new] = found_.series[metric].try_emplace(start, hour);
    if (!is_new) entry->second.merge(hour);
  }

  const RollupQuery& query_;
  const RowLayout layout_;
  std::vector<std::pair<std::string_view, Rollup>> rollups_;  // of the row at hand
  std::set<std::string> others_;
  DeviceRollups found_;
};

}  // namespace

double average(const Rollup& rollup) { return rollup.sum / static_cast<double>(rollup.count); }

Result<DeviceRollups> read_rollups(RollupTable& table, const TableMeta& meta, const RollupQuery& query) {
  const HourStart from = std::max(query.range.from, kFirstHour);
  const HourStart to = std::min(query.range.to, kEndHour);
  Collector collector(query, meta.layout);
  if (from < to) {
    auto scanned = table.scan(row_key(query.device, from, meta.buckets),
                              row_key(query.device, to, meta.buckets), false, [&](const StoredRow& row) {
                                collector.add(row);
                                return true;
                              });
    if (!scanned) return scanned.error();
  }
  return collector.take();
}

std::size_t keep_newest(DeviceRollups& rollups, Step step, int steps) {
  if (rollups.series.empty()) return 0;
  EpochMs first = rollups.last;
  for (int i = 1; i < steps; ++i) first = step_start(first - 1, step);
  std::size_t dropped = 0;
  for (auto entry = rollups.series.begin(); entry != rollups.series.end();) {
    Series& series = entry->second;
    const auto keep = series.lower_bound(first);
    dropped += static_cast<std::size_t>(std::distance(series.begin(), keep));
    series.erase(series.begin(), keep);
    entry = series.empty() ? rollups.series.erase(entry) : std::next(entry);
  }
  rollups.first = std::max(rollups.first, first);
  return dropped;
}

}  // namespace hourfold
