#include "app/query_rollups.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "app/query_plot.h"
#include "app/query_print.h"

namespace hourfold {
namespace {

constexpr EpochMs kDayMs = 24 * kHourMs;
constexpr EpochMs kNewYear = 1767225600000;
constexpr std::uint32_t kBuckets = 8;

// Just enough of a table to be scanned.
class MapTable final : public RollupTable {
 public:
  explicit MapTable(RowLayout layout) : layout_(layout) {}

  void add(std::string_view device, EpochMs hour, const std::map<std::string, Rollup>& metrics) {
    RowPut put(row_key(device, {hour}, kBuckets), hour);
    for (const auto& [metric, rollup] : metrics) add_rollup_cells(put, metric, rollup, layout_);
    StoredRow row{put.key(), {}};
    for (std::size_t i = 0; i < put.cell_count(); ++i) {
      const RowPut::Cell cell = put.cell(i);
      row.cells.push_back(
          {cell.family, std::string(cell.qualifier), std::string(cell.value), put.timestamp()});
    }
    std::sort(row.cells.begin(), row.cells.end(),
              [](const auto& a, const auto& b) { return a.qualifier < b.qualifier; });
    rows_[row.key] = row;
  }

  Result<void> scan(const std::string& from, const std::string& to, bool,
                    const std::function<bool(const StoredRow&)>& on_row) override {
    for (auto row = rows_.lower_bound(from); row != rows_.end() && row->first < to; ++row) {
      if (!on_row(row->second)) break;
    }
    return {};
  }
  Result<void> put(std::span<const RowPut>) override { return refused("not here"); }
  Result<std::vector<RowLookup>> look_up(std::span<const std::string>, std::string_view) override {
    return refused("not here");
  }
  Result<std::vector<StoredRow>> read(std::span<const std::string>) override { return refused("not here"); }
  Result<std::optional<StoredRow>> get(const std::string&) override { return refused("not here"); }
  Result<bool> empty() override { return rows_.empty(); }
  Result<void> create(const TableSpec&) override { return refused("not here"); }
  Result<std::vector<TableFinding>> check(const TableSpec&) override { return refused("not here"); }

 private:
  RowLayout layout_;
  std::map<std::string, StoredRow> rows_;
};

// Two devices; d has four hours around a new year.
MapTable example(RowLayout layout) {
  MapTable table(layout);
  table.add("d", kNewYear - kHourMs, {{"t", {1, 9, 10, 2}}, {"a:b", {0.5, 0.5, 0.5, 1}}});
  table.add("d", kNewYear, {{"t", {-2, 3, 0.1, 3}}});
  table.add("d", kNewYear + kHourMs, {{"t", {4, 5, 0.2, 5}}});
  table.add("d", kNewYear + 40 * kDayMs, {{"u", {7, 7, 7, 1}}});
  table.add("dd", kNewYear, {{"t", {100, 100, 100, 1}}});
  return table;
}

TableMeta meta(RowLayout layout) { return {kBuckets, layout, kTableVersion}; }

DeviceRollups read(MapTable& table, RowLayout layout, const RollupQuery& query) {
  auto rollups = read_rollups(table, meta(layout), query);
  REQUIRE(rollups);
  return std::move(*rollups);
}

TEST_CASE("query: reads a device's rows of either layout, and no other's") {
  for (const RowLayout layout : {RowLayout::kWide, RowLayout::kPacked}) {
    MapTable table = example(layout);
    const DeviceRollups rollups = read(table, layout, {"d", {}, {}, Step::kHour});
    CHECK(rollups.hours == 4);
    CHECK(rollups.first == kNewYear - kHourMs);
    CHECK(rollups.last == kNewYear + 40 * kDayMs);
    REQUIRE(rollups.series.size() == 3);
    CHECK(rollups.series.at("a:b").at(kNewYear - kHourMs).rollup() == Rollup{0.5, 0.5, 0.5, 1});
    REQUIRE(rollups.series.at("t").size() == 3);
    CHECK(rollups.series.at("t").at(kNewYear).rollup() == Rollup{-2, 3, 0.1, 3});
  }
}

TEST_CASE("query: days and months add sums and counts, never averages") {
  MapTable table = example(RowLayout::kWide);
  const DeviceRollups days = read(table, RowLayout::kWide, {"d", {"t"}, {}, Step::kDay});
  const Series& t = days.series.at("t");
  REQUIRE(t.size() == 2);
  CHECK(t.at(kNewYear).rollup() == Rollup{-2, 5, 0.1 + 0.2, 8});
  CHECK(average(t.at(kNewYear).rollup()) == (0.1 + 0.2) / 8);
  CHECK(days.other_metrics == std::vector<std::string>{"a:b", "u"});
  const DeviceRollups months = read(table, RowLayout::kWide, {"d", {}, {}, Step::kMonth});
  CHECK(months.series.at("u").begin()->first == kNewYear + 31 * kDayMs);
  CHECK(months.series.at("t").size() == 2);
}

TEST_CASE("query: sums are compensated") {
  MapTable table(RowLayout::kWide);
  for (int i = 0; i < 10; ++i) table.add("d", kNewYear + i * kHourMs, {{"t", {0.1, 0.1, 0.1, 1}}});
  CHECK(read(table, RowLayout::kWide, {"d", {}, {}, Step::kDay}).series.at("t").at(kNewYear).rollup().sum ==
        1.0);
}

TEST_CASE("query: only hours in the range") {
  MapTable table = example(RowLayout::kPacked);
  const DeviceRollups rollups =
      read(table, RowLayout::kPacked, {"d", {}, {{kNewYear}, {kNewYear + kHourMs}}, Step::kHour});
  CHECK(rollups.hours == 1);
  CHECK(read(table, RowLayout::kPacked, {"x", {}, {}, Step::kHour}).hours == 0);
}

TEST_CASE("query: the newest steps are counted back from the last one") {
  MapTable table = example(RowLayout::kWide);
  DeviceRollups rollups = read(table, RowLayout::kWide, {"d", {"t"}, {}, Step::kHour});
  CHECK(keep_newest(rollups, Step::kHour, 2) == 1);
  CHECK(rollups.first == kNewYear);
  CHECK(rollups.series.at("t").size() == 2);
  DeviceRollups months = read(table, RowLayout::kWide, {"d", {}, {}, Step::kMonth});
  CHECK(keep_newest(months, Step::kMonth, 1) == 3);
  CHECK(months.series.size() == 1);
}

TEST_CASE("query: what programs get") {
  MapTable table = example(RowLayout::kWide);
  const DeviceRollups rollups =
      read(table, RowLayout::kWide, {"d", {"t"}, {{kNewYear}, {kNewYear + kHourMs}}, Step::kHour});
  CHECK(csv_text("d,1", rollups.series, Step::kHour) ==
        "device,metric,hour,time,min,max,avg,sum,count\n\"d,1\",t,1767225600000,2026-01-01T00:00:00Z,-2,3,0."
        "03333333333333333,0.1,3\n");
  CHECK(json_text("d", rollups.series, Step::kHour) ==
        "{\"device\":\"d\",\"metric\":\"t\",\"hour\":1767225600000,\"time\":\"2026-01-01T00:00:00Z\",\"min\":"
        "-2,\"max\":3,"
        "\"avg\":0.03333333333333333,\"sum\":0.1,\"count\":3}\n");
}

TEST_CASE("query: what people get") {
  MapTable table = example(RowLayout::kWide);
  const DeviceRollups rollups =
      read(table, RowLayout::kWide, {"d", {"t"}, {{kNewYear}, {kNewYear + 2 * kHourMs}}, Step::kHour});
  CHECK(table_text(rollups.series, Step::kHour) ==
        "metric  hour (UTC)        min     avg  max  sum  count\n"
        "t       2026-01-01 00:00   -2  0.0333    3  0.1      3\n"
        "t       2026-01-01 01:00    4  0.0400    5  0.2      5\n");
  CHECK(printable("a\x1b[31m\nb") == "a?[31m?b");
  CHECK(rounded(1e300, 2) == "1.00000e+300");
  CHECK(decimals_for(18.2, 26.1) == 3);
  CHECK(decimals_for(45.19500, 45.19512) == 6);
}

TEST_CASE("query: a plot is as wide and high as asked, whatever the values") {
  const std::vector<std::vector<Rollup>> shapes = {{{1, 2, 3, 2}},
                                                   {{5, 5, 5, 1}, {5, 5, 5, 1}},
                                                   {{0, 0, 0, 1}},
                                                   {{-1.7e308, 1.7e308, 0, 2}},
                                                   {{-3, -1, -4, 2}, {1e-300, 1e-300, 1e-300, 1}},
                                                   {{1, 2, std::numeric_limits<double>::infinity(), 2}},
                                                   {{1e15, 1e15 + 1, 2e15, 2}}};
  for (const auto& shape : shapes) {
    Series series;
    EpochMs start = kNewYear;
    for (const Rollup& r : shape) series[start += 3 * kHourMs] = {r.min, r.max, r.sum, 0, r.count};
    for (const std::size_t width : {0U, 40U, 80U, 200U}) {
      const std::string text =
          plot_text("m", series, Step::kHour, kNewYear, kNewYear + 30 * kHourMs, {width, 10, false});
      CAPTURE(text);
      CHECK(std::count(text.begin(), text.end(), '\n') == 13);
      std::size_t begin = text.find('\n') + 1;  // the title may be wider
      for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        CHECK(columns_of(std::string_view(text).substr(begin, end - begin)) <=
              std::max<std::size_t>(width, kMinPlotWidth));
      }
    }
  }
}

}  // namespace
}  // namespace hourfold
