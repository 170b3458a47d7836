#include "app/verify_rows.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/windows.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

constexpr HourStart kHour{1'767'222'000'000};

RowPut row_of(RowLayout layout, Generation generation = {0}) {
  FoldTools tools;
  Window window(true, tools.schemas);
  const std::vector<Metric> first = {{"a", 1}, {"b:c", -2.5}};
  const std::vector<Metric> second = {{"a", 3}};
  fold(window, tools, first, 10, {{7}, 0});
  fold(window, tools, second, 20, {{8}, 0});
  return make_row_put(window, "d1", kHour, 32, layout, generation, "t/3");
}

StoredRow stored(const RowPut& put) {
  StoredRow row{put.key(), {}};
  for (std::size_t i = 0; i < put.cell_count(); ++i) {
    const RowPut::Cell cell = put.cell(i);
    row.cells.push_back({cell.family, std::string(cell.qualifier), std::string(cell.value), put.timestamp()});
  }
  return row;
}

StoredCell& cell_of(StoredRow& row, const std::string& qualifier) {
  for (StoredCell& cell : row.cells) {
    if (cell.qualifier == qualifier) return cell;
  }
  FAIL("no cell " << qualifier);
  return row.cells.front();
}

std::vector<Difference> compare(const RowPut& expected, const StoredRow& found, RowLayout layout,
                                bool with_contributions = true, std::uint64_t* cells = nullptr) {
  std::vector<Difference> differences;
  Difference about;
  about.hour = kHour;
  about.device = "d1";
  const auto compared = compare_row(stored(expected), found, about, layout, with_contributions,
                                    [&](Difference difference) { differences.push_back(difference); });
  if (cells) *cells = compared;
  return differences;
}

std::map<PartitionId, PartitionFacts> facts() {
  PartitionFacts three;
  three.log = {{100}, {200}};
  three.whole_from = {kHour.ms - 10 * kHourMs};
  three.rebuilt_from = {kHour.ms - 5 * kHourMs};
  three.first_arrival_ms = 1'000;
  PartitionFacts four = three;
  four.whole_from = {kHour.ms - 2 * kHourMs};
  return {{{3}, three}, {{4}, four}};
}

FoundContribution contribution(std::int64_t offset) { return {{3}, {5}, {{offset}, 0}, 5'000, {1}}; }

RowStanding standing(HourStart hour, const std::vector<FoundContribution>& found, bool expected = true) {
  return standing_of(hour, found, expected, false, facts(), {1}, {kHour.ms - 100 * kHourMs});
}

}  // namespace

TEST_CASE("equal rows have no differences, and every cell is counted") {
  for (const RowLayout layout : {RowLayout::kWide, RowLayout::kPacked}) {
    const RowPut put = row_of(layout);
    std::uint64_t cells = 0;
    CHECK(compare(put, stored(put), layout, true, &cells).empty());
    CHECK(cells == (layout == RowLayout::kWide ? 9 : 3));
    CHECK(compare(put, stored(put), layout, false, &cells).empty());
    CHECK(cells == (layout == RowLayout::kWide ? 8 : 2));
  }
}

TEST_CASE("each kind of difference, with what was expected and what was found") {
  const RowPut put = row_of(RowLayout::kWide);
  StoredRow row = stored(put);
  SUBCASE("another value") {
    cell_of(row, "a:max").value = cell_of(row, "a:min").value;
    const auto found = compare(put, row, RowLayout::kWide);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == DifferenceKind::kOtherValue);
    CHECK(found[0].cell == "r:a:max");
    CHECK(found[0].expected == "3");
    CHECK(found[0].found == "1");
    CHECK(found[0].device == "d1");
  }
  SUBCASE("another timestamp of the same value") {
    cell_of(row, "b:c:sum").timestamp += kHourMs;
    const auto found = compare(put, row, RowLayout::kWide);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == DifferenceKind::kOtherTimestamp);
    CHECK(found[0].expected == "1767222000002 (generation 0, revision 2)");
    CHECK(found[0].found == "1767225600002 (generation 1, revision 2)");
  }
  SUBCASE("a cell that is missing") {
    std::erase_if(row.cells, [](const StoredCell& cell) { return cell.qualifier == "a:count"; });
    const auto found = compare(put, row, RowLayout::kWide);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == DifferenceKind::kMissingCell);
    CHECK(found[0].expected == "2");
    CHECK(found[0].found.empty());
  }
  SUBCASE("a cell too many, with bytes that are none of ours") {
    row.cells.push_back({'r', "x", "\x01\xff", put.timestamp()});
    const auto found = compare(put, row, RowLayout::kWide);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == DifferenceKind::kExtraCell);
    CHECK(found[0].found == "0x01ff");
  }
  SUBCASE("another contribution") {
    FoldTools tools;
    Window other(true, tools.schemas);
    const std::vector<Metric> metrics = {{"a", 9}};
    fold(other, tools, metrics, 1, {{5}, 0});
    cell_of(row, "t/3").value = bytes_of(other);
    const auto found = compare(put, row, RowLayout::kWide);
    REQUIRE(found.size() == 1);
    CHECK(found[0].cell == "s:t/3");
    CHECK(found[0].found == "1 readings up to offset 5, a min 9 max 9 sum 9 count 1");
    CHECK(compare(put, row, RowLayout::kWide, false).empty());
  }
}

TEST_CASE("a packed cell is shown as its four numbers") {
  const RowPut put = row_of(RowLayout::kPacked);
  StoredRow row = stored(put);
  cell_of(row, "a").value = cell_of(row, "b:c").value;
  const auto found = compare(put, row, RowLayout::kPacked);
  REQUIRE(found.size() == 1);
  CHECK(found[0].expected == "min 1 max 3 sum 4 count 2");
  CHECK(found[0].found == "min -2.5 max -2.5 sum -2.5 count 1");
}

TEST_CASE("which rows can be compared") {
  CHECK(standing(kHour, {contribution(199)}) == RowStanding::kComparable);
  CHECK(standing(kHour, {contribution(200)}) == RowStanding::kNewer);
  CHECK(standing({kHour.ms - 10 * kHourMs}, {contribution(150)}) == RowStanding::kComparable);
  CHECK(standing({kHour.ms - 11 * kHourMs}, {contribution(150)}) == RowStanding::kPartlyInLog);
  CHECK(standing({kHour.ms - 11 * kHourMs}, {contribution(250)}) == RowStanding::kPartlyInLog);
  CHECK(standing({kHour.ms - 101 * kHourMs}, {contribution(250)}) == RowStanding::kExpiring);
  // Without a contribution every partition must have the hour.
  CHECK(standing({kHour.ms - 2 * kHourMs}, {}) == RowStanding::kComparable);
  CHECK(standing({kHour.ms - 3 * kHourMs}, {}) == RowStanding::kPartlyInLog);
}

TEST_CASE("rows that a rebuild left, and rows of a topic before this one") {
  FoundContribution older = contribution(150);
  older.generation = {0};
  CHECK(standing({kHour.ms - 6 * kHourMs}, {older}) == RowStanding::kOlderGeneration);
  CHECK(standing({kHour.ms - 5 * kHourMs}, {older}) == RowStanding::kComparable);
  FoundContribution before = contribution(150);
  before.last_arrival_ms = 999;
  CHECK(standing(kHour, {before}, false) == RowStanding::kOtherLog);
  CHECK(standing(kHour, {before}, true) == RowStanding::kComparable);
  before.last_arrival_ms = 1'000;
  CHECK(standing(kHour, {before}, false) == RowStanding::kComparable);
}
