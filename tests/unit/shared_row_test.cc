#include "pipeline/shared_row.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "core/contribution_codec.h"
#include "support/windows.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

constexpr HourStart kHour{1'767'222'000'000};
const std::string kKey = row_key("d1", kHour, 4);

Window window_of(const std::vector<std::vector<Metric>>& readings, std::int64_t offset = 7) {
  FoldTools tools;
  Window window(true, tools.schemas);
  std::uint32_t time = 0;
  for (const auto& metrics : readings) fold(window, tools, metrics, time += 10, {{offset++}, 0});
  return window;
}

RowPut contribution(const std::string& qualifier, const Window& window, Generation generation = {0}) {
  return make_contribution_put(window, "d1", kHour, 4, generation, qualifier);
}

// The cell with the highest timestamp is read. Fails on demand.
class MapTable final : public RollupTable {
 public:
  std::vector<std::string> calls;
  std::map<std::string, Error> failures;  // by call, "put s", "read", "put r"

  Result<void> put(std::span<const RowPut> rows) override {
    const std::string call = std::string("put ") + rows.front().cell(0).family;
    calls.push_back(call);
    if (const auto at = failures.find(call); at != failures.end()) return at->second;
    for (const RowPut& row : rows) apply(row);
    return {};
  }
  Result<std::vector<StoredRow>> read(std::span<const std::string> keys) override {
    calls.emplace_back("read");
    if (const auto at = failures.find("read"); at != failures.end()) return at->second;
    std::vector<StoredRow> rows;
    for (const std::string& key : keys) {
      rows.push_back({key, {}});
      for (const auto& [name, cell] : cells_[key]) rows.back().cells.push_back(cell);
    }
    return rows;
  }
  Result<std::vector<RowLookup>> look_up(std::span<const std::string>, std::string_view) override {
    return fatal("not asked for here");
  }
  Result<void> scan(const std::string&, const std::string&, bool,
                    const std::function<bool(const StoredRow&)>&) override {
    return fatal("not asked for here");
  }
  Result<std::optional<StoredRow>> get(const std::string&) override { return fatal("not asked for here"); }
  Result<bool> empty() override { return cells_.empty(); }
  Result<void> create(const TableSpec&) override { return fatal("not asked for here"); }
  Result<std::vector<TableFinding>> check(const TableSpec&) override { return fatal("not asked for here"); }

  void apply(const RowPut& row) {
    for (std::size_t i = 0; i < row.cell_count(); ++i) {
      const RowPut::Cell cell = row.cell(i);
      StoredCell& held = cells_[row.key()][{cell.family, std::string(cell.qualifier)}];
      if (held.family == 0 || held.timestamp <= row.timestamp())
        held = {cell.family, std::string(cell.qualifier), std::string(cell.value), row.timestamp()};
    }
  }
  StoredRow row() { return std::move(read(std::span(&kKey, 1))->front()); }

 private:
  std::map<std::string, std::map<std::pair<char, std::string>, StoredCell>> cells_;
};

Rollup rollup_in(const StoredRow& row, std::string_view metric) {
  Rollup rollup;
  for (const StoredCell& cell : row.cells) {
    std::string_view name;
    Rollup read = rollup;
    if (cell.family == 'r' && read_rollup_cell(cell.qualifier, cell.value, RowLayout::kWide, name, read) &&
        name == metric)
      rollup = read;
  }
  return rollup;
}

std::int64_t rollups_at(const StoredRow& row) {
  for (const StoredCell& cell : row.cells) {
    if (cell.family == 'r') return cell.timestamp - kHour.ms;
  }
  return -1;
}

void put_all(MapTable& table, const std::vector<RowPut>& rows, const SharedRowRules& rules = {}) {
  const auto done = put_shared(table, rows, rules);
  REQUIRE_MESSAGE(done, done.error().message);
}

SharedRow shared(const StoredRow& row, const SharedRowRules& rules = {}) {
  auto seen = SharedRow::of(row, kHour, rules);
  REQUIRE(seen);
  return std::move(*seen);
}

}  // namespace

TEST_CASE("a row of several contributions is their merge, at the sum of their revisions") {
  MapTable table;
  put_all(table, {contribution("t/2", window_of({{{"a", 1}}, {{"a", 5}, {"b", -1}}}))});
  CHECK(rollups_at(table.row()) == 1'800'002);
  put_all(table, {contribution("t/10", window_of({{{"a", -3}}, {{"c", 2}}, {{"a", 0.5}}}))});
  const StoredRow row = table.row();
  CHECK(rollups_at(row) == 1'800'005);
  CHECK(rollup_in(row, "a") == Rollup{-3, 5, 3.5, 4});
  CHECK(rollup_in(row, "b") == Rollup{-1, -1, -1, 1});
  CHECK(rollup_in(row, "c") == Rollup{2, 2, 2, 1});
}

TEST_CASE(
    "the merge has the same bytes whoever writes last: contributions in the byte order of their names") {
  const Window one = window_of({{{"a", 1e16}}, {{"a", 0.1}}});
  const Window two = window_of({{{"a", 1}}, {{"a", 1e-9}}});
  const Window three = window_of({{{"a", -1e16}}, {{"a", 0.7}}});
  std::vector<RowPut> puts = {contribution("t/2", one), contribution("t/10", two),
                              contribution("t/9", three)};
  std::vector<std::size_t> order = {0, 1, 2};
  std::optional<std::vector<std::string>> values;
  do {
    MapTable table;
    for (const std::size_t i : order) put_all(table, {puts[i]});
    std::vector<std::string> got;
    for (const StoredCell& cell : table.row().cells) got.push_back(cell.qualifier + cell.value);
    if (!values) values = got;
    CHECK(got == *values);
    CHECK(rollup_in(table.row(), "a").sum == doctest::Approx(1.8));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("its timestamp is above all that one contribution can have, and stays in its generation") {
  CHECK(merged_timestamp(kHour, {0}, {0}) == kHour.ms + 1'800'000);
  CHECK(merged_timestamp(kHour, {2}, {5}) == kHour.ms + 2 * kHourMs + 1'800'005);
  CHECK(merged_timestamp(kHour, {0}, {1'799'999}) == kHour.ms + 3'599'999);
  CHECK(merged_timestamp(kHour, {0}, {3'000'000}) == kHour.ms + 3'599'999);
}

TEST_CASE("a whole row by an owner that knows of no other hides nothing") {
  MapTable table;
  const Window first = window_of({{{"a", 1}}});
  table.apply(make_row_put(first, "d1", kHour, 4, RowLayout::kWide, {0}, "t/0"));
  put_all(table, {contribution("t/8", window_of({{{"a", 10}}, {{"a", 20}}}))});
  CHECK(rollup_in(table.row(), "a").count == 3);
  const Window more = window_of({{{"a", 1}}, {{"a", 2}}, {{"a", 3}}, {{"a", 4}}});
  table.apply(make_row_put(more, "d1", kHour, 4, RowLayout::kWide, {0}, "t/0"));
  CHECK(rollup_in(table.row(), "a").count == 3);
  const StoredRow row = table.row();
  CHECK(shared(row).behind());
  // Once it knows it writes its contribution again, and that merges.
  put_all(table, {contribution("t/0", more)});
  CHECK(rollup_in(table.row(), "a") == Rollup{1, 20, 40, 6});
}

TEST_CASE("what is behind, and what lacks a contribution") {
  MapTable table;
  const Window window = window_of({{{"a", 1}}, {{"a", 2}}});
  CHECK_FALSE(shared(table.row()).behind());
  CHECK_FALSE(shared(table.row()).incomplete());
  table.apply(contribution("t/0", window));
  CHECK(shared(table.row()).behind());
  put_all(table, {contribution("t/0", window)});
  CHECK_FALSE(shared(table.row()).behind());
  CHECK_FALSE(shared(table.row()).incomplete());
  SUBCASE("of a merge") {
    StoredRow row = table.row();
    std::erase_if(row.cells, [](const StoredCell& cell) { return cell.family == 's'; });
    CHECK(shared(row).incomplete());
    CHECK(look_up_in(row, shared(row), "t/0").has_rollup);
    const auto merges = merges_of(std::span(&row, 1), {});
    REQUIRE_FALSE(merges);
    CHECK(merges.error().kind == ErrorKind::kRefused);
  }
  SUBCASE("of a whole row") {
    MapTable other;
    other.apply(make_row_put(window, "d1", kHour, 4, RowLayout::kWide, {0}, "t/0"));
    CHECK_FALSE(shared(other.row()).incomplete());
    StoredRow row = other.row();
    std::erase_if(row.cells, [](const StoredCell& cell) { return cell.family == 's'; });
    CHECK(shared(row).incomplete());
  }
}

TEST_CASE("contributions of older generations count in hours that were not rebuilt") {
  MapTable table;
  table.apply(
      make_row_put(window_of({{{"a", 1}}, {{"a", 2}}}), "d1", kHour, 4, RowLayout::kWide, {0}, "t/0"));
  const SharedRowRules kept{RowLayout::kWide, {1}, {kHour.ms + kHourMs}};
  const SharedRowRules replaced{RowLayout::kWide, {1}, kHour};
  const RowPut ours = contribution("t/8", window_of({{{"a", 5}}}), {1});
  SUBCASE("kept") {
    put_all(table, {ours}, kept);
    CHECK(rollup_in(table.row(), "a").count == 3);
    CHECK(rollups_at(table.row()) == kHourMs + 1'800'003);
  }
  SUBCASE("replaced") {
    put_all(table, {ours}, replaced);
    CHECK(rollup_in(table.row(), "a").count == 1);
    CHECK(rollups_at(table.row()) == kHourMs + 1'800'001);
  }
  SUBCASE("a newer one stops us") {
    table.apply(contribution("t/8", window_of({{{"a", 5}}}), {2}));
    const StoredRow row = table.row();
    const auto seen = SharedRow::of(row, kHour, kept);
    REQUIRE_FALSE(seen);
    CHECK(seen.error().kind == ErrorKind::kFatal);
  }
}

TEST_CASE("a Put that fails in any of its steps says so, and can be sent again") {
  const std::vector<RowPut> puts = {contribution("t/0", window_of({{{"a", 1}}}))};
  for (const std::string step : {"put s", "read", "put r"}) {
    CAPTURE(step);
    MapTable table;
    table.failures.emplace(step, unavailable("away"));
    const auto failed = put_shared(table, puts, {});
    REQUIRE_FALSE(failed);
    // Something has landed once the contribution has.
    CHECK(failed.error().kind == (step == "put s" ? ErrorKind::kUnavailable : ErrorKind::kUnknown));
    table.failures.clear();
    put_all(table, puts);
    CHECK(rollup_in(table.row(), "a").count == 1);
  }
}

TEST_CASE("what is merged already is not written again") {
  MapTable table;
  const std::vector<RowPut> puts = {contribution("t/0", window_of({{{"a", 1}}}))};
  put_all(table, puts);
  table.calls.clear();
  put_all(table, puts);
  CHECK(table.calls == std::vector<std::string>{"put s", "read"});
}
