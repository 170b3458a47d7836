// A log in a few records, recomputed and held against an embedded table.
#include "app/verify_comparison.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "app/assemble.h"
#include "embedded/embedded_table.h"
#include "pipeline/shared_row.h"
#include "support/windows.h"

using namespace hourfold;
using namespace hourfold::test;
namespace fs = std::filesystem;

namespace {

constexpr HourStart kHour{1'767'222'000'000};

struct Bench {
  static inline int count = 0;
  fs::path dir = fs::temp_directory_path() /
                 ("hourfold-comparison-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
  Config config;
  std::unique_ptr<RollupTable> table;
  std::unique_ptr<Recomputation> recomputation;
  VerifyScope scope;
  std::vector<Difference> differences;
  VerifyCounts counts;

  explicit Bench(int devices) {
    fs::remove_all(dir);
    config.kafka.topics = {"t"};
    config.sink.buckets = 4;
    config.state.memory_bytes = 64 << 20;
    TableSpec spec;
    spec.buckets = 4;
    EmbeddedOptions options;
    options.dir = (dir / "table").string();
    auto opened = EmbeddedTable::open(options, EmbeddedTable::Access::kWrite, spec);
    REQUIRE(opened);
    table = std::move(*opened);
    const LogBounds range{{0}, {devices}};
    const std::map<PartitionId, LogBounds> ranges = {{{0}, range}, {{1}, {{0}, {0}}}};
    auto made = Recomputation::open(config, (dir / "scratch").string(), ranges, 2, system_clock());
    REQUIRE(made);
    recomputation = std::move(*made);
    for (int i = 0; i < devices; ++i) REQUIRE(recomputation->fold(batch(i)));
    REQUIRE(recomputation->finish());
    scope.topic = "t";
    scope.table = {4, RowLayout::kWide, kTableVersion};
    scope.partitions[{0}].log = range;
    scope.partitions[{1}].log = {{0}, {0}};
  }
  ~Bench() {
    recomputation.reset();
    table.reset();
    fs::remove_all(dir);
  }

  static std::string device(int i) { return "d" + std::to_string(i); }
  std::string value_;
  std::string key_;
  RecordBatch batch(int i) {
    key_ = device(i);
    value_ =
        "{\"device\":\"" + key_ + "\",\"ts\":" + std::to_string(kHour.ms + i) + ",\"metrics\":{\"a\":1}}";
    RecordBatch batch;
    batch.partition = {0};
    Record& record = batch.records.emplace_back();
    record.offset = {i};
    record.timestamp_ms = kHour.ms + 10'000;
    record.key = key_;
    record.value = value_;
    return batch;
  }

  // The same readings, in two partitions each.
  void begin_with_two_partitions() {
    recomputation.reset();
    const LogBounds range{{0}, {3}};
    auto made = Recomputation::open(config, (dir / "scratch-2").string(), {{{0}, range}, {{1}, range}}, 2,
                                    system_clock());
    REQUIRE(made);
    recomputation = std::move(*made);
    for (const int partition : {0, 1}) {
      for (int i = 0; i < 3; ++i) {
        RecordBatch one = batch(i);
        one.partition = {partition};
        REQUIRE(recomputation->fold(one));
      }
    }
    REQUIRE(recomputation->finish());
    scope.partitions[{0}].log = range;
    scope.partitions[{1}].log = range;
  }

  void write(int i, Generation generation = {0}) {
    auto bytes = recomputation->find({0}, kHour, device(i));
    REQUIRE(bytes);
    REQUIRE(*bytes);
    SchemaPool schemas;
    auto window = read_contribution(**bytes, schemas);
    REQUIRE(window);
    const RowPut put = make_row_put(*window, device(i), kHour, 4, RowLayout::kWide, generation, "t/0");
    REQUIRE(table->put(std::span(&put, 1)));
  }
  void put_cell(const std::string& key, char family, const std::string& qualifier, const std::string& value,
                std::int64_t timestamp) {
    RowPut put(key, timestamp);
    put.add(family, qualifier, value);
    REQUIRE(table->put(std::span(&put, 1)));
  }

  void compare() {
    VerifyComparison comparison(scope, *recomputation,
                                [&](const Difference& difference) { differences.push_back(difference); });
    REQUIRE(comparison.compare(*table, [](std::uint64_t) { return true; }));
    counts = comparison.counts();
  }
  std::vector<DifferenceKind> kinds() const {
    std::vector<DifferenceKind> kinds;
    for (const Difference& difference : differences) kinds.push_back(difference.kind);
    return kinds;
  }
};

}  // namespace

TEST_CASE("a table as the log gives it has no difference") {
  Bench bench(50);
  for (int i = 0; i < 50; ++i) bench.write(i);
  bench.compare();
  CHECK(bench.differences.empty());
  CHECK(bench.counts.rows == 50);
  CHECK(bench.counts.cells == 50 * 5);
  CHECK(bench.counts.differing_rows == 0);
}

TEST_CASE("rows that are missing, too many, or of another key are found") {
  Bench bench(50);
  for (int i = 1; i < 50; ++i) bench.write(i);
  bench.put_cell(row_key("nobody", kHour, 4), 'r', "m:sum", "12345678", kHour.ms);
  bench.put_cell("\x01 no rollup row", 'r', "m:sum", "12345678", kHour.ms);
  bench.compare();
  CHECK(bench.counts.differing_rows == 3);
  REQUIRE(bench.differences.size() == 3);
  std::vector<DifferenceKind> kinds = bench.kinds();
  std::ranges::sort(kinds);
  CHECK(kinds ==
        std::vector{DifferenceKind::kMissingRow, DifferenceKind::kExtraRow, DifferenceKind::kExtraRow});
  for (const Difference& difference : bench.differences) {
    if (difference.kind != DifferenceKind::kMissingRow) continue;
    CHECK(difference.device == "d0");
    CHECK(difference.partition == PartitionId{0});
    CHECK(difference.cells == 5);
    CHECK(difference.expected == "5 cells at 1767222000001 (generation 0, revision 1)");
  }
}

TEST_CASE("only what is selected is compared, by key where devices are named") {
  Bench bench(50);
  for (int i = 0; i < 40; ++i) bench.write(i);
  SUBCASE("a device that is right") {
    bench.scope.devices = DeviceFilter("d7,d8");
    bench.compare();
    CHECK(bench.counts.rows == 2);
    CHECK(bench.differences.empty());
  }
  SUBCASE("devices by a pattern, some missing") {
    bench.scope.devices = DeviceFilter("d4*");
    bench.compare();
    CHECK(bench.counts.rows == 11);
    CHECK(bench.differences.size() == 10);
  }
  SUBCASE("another hour") {
    bench.scope.hours = {{kHour.ms + kHourMs}, HourStart::highest()};
    bench.compare();
    CHECK(bench.counts.rows == 0);
    CHECK(bench.differences.empty());
  }
}

TEST_CASE("what cannot be compared is counted apart, on both sides") {
  Bench bench(10);
  for (int i = 0; i < 8; ++i) bench.write(i);
  SUBCASE("hours that are not whole") {
    bench.scope.partitions[{0}].whole_from = {kHour.ms + kHourMs};
    bench.compare();
    CHECK(bench.counts.left_out[static_cast<std::size_t>(RowStanding::kPartlyInLog)] == 8);
  }
  SUBCASE("hours that may have expired") {
    bench.scope.expires_before = {kHour.ms + kHourMs};
    bench.compare();
    CHECK(bench.counts.left_out[static_cast<std::size_t>(RowStanding::kExpiring)] == 8);
  }
  CHECK(bench.counts.rows == 0);
  CHECK(bench.differences.empty());
}

TEST_CASE("a newer row is no difference, and its hour is not missing") {
  Bench bench(10);
  for (int i = 0; i < 10; ++i) bench.write(i);
  FoldTools tools;
  Window newer(true, tools.schemas);
  const std::vector<Metric> metrics = {{"a", 9}};
  fold(newer, tools, metrics, 1, {{10}, 0});
  bench.put_cell(row_key("d3", kHour, 4), 's', "t/0", bytes_of(newer), kHour.ms + 2);
  bench.compare();
  CHECK(bench.differences.empty());
  CHECK(bench.counts.left_out[static_cast<std::size_t>(RowStanding::kNewer)] == 1);
  CHECK(bench.counts.rows == 9);
}

TEST_CASE("cells are expected at the generation of the table") {
  Bench bench(4);
  bench.scope.generation = {2};
  for (int i = 0; i < 3; ++i) bench.write(i, {2});
  bench.write(3, {1});
  bench.compare();
  CHECK(bench.counts.differing_rows == 1);
  CHECK(bench.differences.size() == 5);
  for (const Difference& difference : bench.differences) {
    CHECK(difference.kind == DifferenceKind::kOtherTimestamp);
    CHECK(difference.device == "d3");
  }
}

TEST_CASE("rollups without a contribution are compared with whoever has the hour") {
  Bench bench(4);
  for (int i = 0; i < 4; ++i) bench.write(i);
  SUBCASE("the contribution is missing") {
    // A row that was made of its rollups alone.
    auto row = bench.table->get(row_key("d1", kHour, 4));
    REQUIRE(*row);
    Bench other(4);
    for (int i = 0; i < 4; ++i) {
      if (i != 1) other.write(i);
    }
    for (const StoredCell& cell : (*row)->cells) {
      if (cell.family == 'r')
        other.put_cell(row_key("d1", kHour, 4), 'r', cell.qualifier, cell.value, cell.timestamp);
    }
    other.compare();
    REQUIRE(other.differences.size() == 1);
    CHECK(other.differences[0].kind == DifferenceKind::kMissingCell);
    CHECK(other.differences[0].cell == "s:t/0");
  }
  SUBCASE("it has another partition's name") {
    bench.put_cell(row_key("d2", kHour, 4), 's', "t/1", "x", kHour.ms + 1);
    bench.compare();
    REQUIRE(bench.differences.size() == 1);
    CHECK(bench.differences[0].kind == DifferenceKind::kExtraCell);
    CHECK(bench.differences[0].found == "0x78");
  }
}

TEST_CASE("a row of several contributions is compared with their merge") {
  Bench bench(3);
  bench.begin_with_two_partitions();
  const auto window_of = [&](int partition, int i) {
    auto bytes = bench.recomputation->find({partition}, kHour, Bench::device(i));
    REQUIRE(bytes);
    REQUIRE(*bytes);
    SchemaPool schemas;
    auto window = read_contribution(**bytes, schemas);
    REQUIRE(window);
    return std::move(*window);
  };
  bench.scope.several = true;
  const auto contribution = [&](int partition, int i) {
    return make_contribution_put(window_of(partition, i), Bench::device(i), kHour, 4, {0},
                                 "t/" + std::to_string(partition));
  };
  // d0: both contributions, merged. d1: one of them has not been merged. d2: there is no row.
  for (const int partition : {0, 1}) {
    const RowPut put = contribution(partition, 0);
    REQUIRE(put_shared(*bench.table, std::span(&put, 1), {}));
  }
  const RowPut merged = contribution(0, 1);
  REQUIRE(put_shared(*bench.table, std::span(&merged, 1), {}));
  const RowPut alone = contribution(1, 1);
  REQUIRE(bench.table->put(std::span(&alone, 1)));
  bench.compare();
  CHECK(bench.counts.rows == 3);
  CHECK(bench.counts.differing_rows == 2);
  std::size_t missing = 0;
  for (const Difference& difference : bench.differences) {
    CHECK(difference.device != "d0");
    if (difference.kind == DifferenceKind::kMissingRow) {
      ++missing;
      CHECK(difference.cells == 6);  // four and two contributions
    }
  }
  CHECK(missing == 1);
  CHECK(std::ranges::count(bench.kinds(), DifferenceKind::kOtherValue) == 2);  // sum and count
}
