// Cases met in the field: the log's odd records, and numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "support/field_world.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

// Appends a reading for each of these values of `a`, a second apart.
void append_values(FieldWorld& world, const std::vector<std::string>& values, int from = 0) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    world.append(field_reading(kFieldHour.ms + (from + static_cast<int>(i)) * 1'000, "\"a\":" + values[i]));
  }
}

// The cell of these values, with something in between any two of them.
std::optional<Rollup> cell_of(const std::vector<std::string>& values,
                              Meanwhile between = Meanwhile::kNothing) {
  FieldWorld world;
  world.start();
  for (std::size_t i = 0; i < values.size(); ++i) {
    append_values(world, {values[i]}, static_cast<int>(i));
    world.settle();
    if (between == Meanwhile::kExpiry && !world.cell()) continue;  // there is nothing yet that could expire
    if (i + 1 < values.size()) world.pass(between);
  }
  return world.cell();
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST_CASE("case 24: a null value among good ones is skipped and counted, an empty one is malformed") {
  FieldWorld world;
  world.start();
  append_values(world, {"1"}, 0);
  world.append(std::nullopt);
  append_values(world, {"2"}, 1);
  world.settle();
  const WorkerCounters& counters = world.member->counters();
  CHECK(world.cell() == Rollup{1, 2, 3, 2});
  CHECK(counters.tombstones.get() == 1);
  CHECK(counters.consumed.get() == 2);
  CHECK(counters.records.get() == 3);
  CHECK(world.sides.empty());
  for (const std::string& nothing : {std::string(), std::string("  \n"), std::string(3, '\0')}) {
    world.append(nothing);
    world.settle();
    CHECK(world.sides[{{static_cast<std::int64_t>(world.log.size()) - 1}, 0}].contains(
        "dead_letter empty_value"));
  }
  CHECK(counters.malformed.get() == 3);
  CHECK(world.cell()->count == 2);
}

TEST_CASE("case 24: headers that are empty change nothing and reach the side topics as they were") {
  FieldWorld world;
  world.start();
  const auto headers = std::make_shared<RecordHeaders>();
  headers->push_back({"empty", ""});
  headers->push_back({"", "nameless"});
  const std::string good = field_reading(kFieldHour.ms, R"("a":1)");
  RecordBatch batch;
  for (const std::string_view value : {std::string_view(good), std::string_view("{")}) {
    for (const auto& given : {std::shared_ptr<const RecordHeaders>(headers),
                              std::shared_ptr<const RecordHeaders>(std::make_shared<RecordHeaders>()),
                              std::shared_ptr<const RecordHeaders>()}) {
      Record record;
      record.offset = {static_cast<std::int64_t>(batch.records.size())};
      record.timestamp_ms = world.now;
      record.value = value;
      record.headers = given;
      batch.records.push_back(record);
    }
  }
  REQUIRE(world.member->worker->fold(batch, world.now));
  world.step(*world.member);
  CHECK(world.member->counters().folded.get() == 1);
  CHECK(world.member->counters().duplicate.get() == 2);
  REQUIRE(world.member->side.sent.size() == 3);
  CHECK(world.member->side.sent[0].headers.size() == 2);
  CHECK(world.member->side.sent[1].headers.empty());
  CHECK(world.member->side.sent[2].headers.empty());
}

TEST_CASE(
    "case 24: without a key by_device stops with the explanation, before anything of the record counts") {
  const std::string good = field_reading(kFieldHour.ms, R"("a":1)");
  for (const bool several : {false, true}) {  // readings in the record
    FieldWorld world;
    world.settings.check_keys = true;  // by_device, several partitions
    world.start();
    world.append_at(world.now, good, "d1");
    world.settle();
    RecordBatch batch;
    Record record;
    record.offset = {1};
    record.timestamp_ms = world.now;
    const std::string array = "[" + good + "," + good + "]";
    record.value = several ? array : good;
    batch.records.push_back(record);
    const auto folded = world.member->worker->fold(batch, world.now);
    REQUIRE_FALSE(folded);
    CHECK(folded.error().kind == ErrorKind::kFatal);
    for (const char* word : {"offset 1", "key null", "'d1'", "by_device", "trusted"})
      CHECK_MESSAGE(folded.error().message.find(word) != std::string::npos, folded.error().message);
    CHECK(world.member->counters().consumed.get() == 1);
    CHECK(world.member->worker->next_offset() == Offset{1});
    // A topic of one partition needs no keys, nor does the operator's word.
    world.settings.check_keys = false;
    world.append_at(world.now, field_reading(kFieldHour.ms + 5, R"("a":1)"), std::nullopt);
    world.pass(Meanwhile::kRestart);
    world.settle();
    CHECK(world.cell()->count == 2);
  }
}

TEST_CASE("case 27: values that are no numbers are left out, wherever they stand, and counted") {
  struct Hour {
    std::vector<std::string> values;
    std::optional<Rollup> cell;
    std::uint64_t rejected;
  };
  std::vector<Hour> hours{
      {{"NaN", "3"}, Rollup{3, 3, 3, 1}, 1},
      {{"3", "NaN"}, Rollup{3, 3, 3, 1}, 1},
      {{"NaN"}, std::nullopt, 1},
      {{"NaN", "NaN", "Infinity"}, std::nullopt, 3},
  };
  // None of them spoils what comes before or after it.
  for (const char* no_number : {"NaN", "Infinity", "-Infinity", "1e400", "-1e400", "\"5\"", "true", "[1]"})
    hours.push_back({{"1", no_number, "5"}, Rollup{1, 5, 6, 2}, 1});
  for (const Hour& hour : hours) {
    for (const bool beside : {false, true}) {  // a good metric in the same readings
      CAPTURE(hour.values.front());
      CAPTURE(beside);
      FieldWorld world;
      world.start();
      for (std::size_t i = 0; i < hour.values.size(); ++i) {
        world.append(field_reading(kFieldHour.ms + static_cast<EpochMs>(i),
                                   (beside ? R"("b":1,"a":)" : R"("a":)") + hour.values[i]));
      }
      world.settle();
      CHECK(world.cell() == hour.cell);
      std::uint64_t rejected = 0;
      for (const Counter& reason : world.member->counters().rejected_metrics) rejected += reason.get();
      CHECK(rejected == hour.rejected);
      // A reading with nothing else is malformed; one with something is folded without it.
      CHECK(world.member->counters().malformed.get() == (beside ? 0 : hour.rejected));
      CHECK(world.cell("d1", kFieldHour, "b").has_value() == beside);
      if (beside)
        CHECK(world.cell("d1", kFieldHour, "b")->count == static_cast<std::int64_t>(hour.values.size()));
      if (!beside && !hour.cell) CHECK(world.table.empty());
    }
  }
}

TEST_CASE("case 28: a single value is its own max, min and sum; decimal sums come out as decimals") {
  for (const Meanwhile between : kAllMeanwhiles) {
    CAPTURE(static_cast<int>(between));
    CHECK(cell_of({"-5"}, between) == Rollup{-5, -5, -5, 1});
    CHECK(cell_of({"0.73"}, between) == Rollup{0.73, 0.73, 0.73, 1});
    CHECK(cell_of({"-5", "-7"}, between) == Rollup{-7, -5, -12, 2});
    CHECK(cell_of({"0.1", "0.2", "0.7"}, between) == Rollup{0.1, 0.7, 1.0, 3});
  }
  const Rollup seventy = *cell_of(std::vector<std::string>(70, "0.4"));
  CHECK(same_bits(seventy.sum, 28.0));
  CHECK(seventy == Rollup{0.4, 0.4, 28.0, 70});
}

TEST_CASE("case 29: 1e16, 1 and -1e16 sum to 1 in every order, also where the hour was put down in between") {
  for (const Meanwhile between : kAllMeanwhiles) {
    std::vector<std::string> values{"-1e16", "1", "1e16"};
    std::sort(values.begin(), values.end());
    int orders = 0;
    do {
      ++orders;
      const auto rollup = cell_of(values, between);
      REQUIRE(rollup);
      CHECK(same_bits(rollup->sum, 1.0));
      CHECK(rollup->min == -1e16);
      CHECK(rollup->max == 1e16);
      CHECK(rollup->count == 3);
    } while (std::next_permutation(values.begin(), values.end()));
    CHECK(orders == 6);
  }
}

TEST_CASE("case 30: a metric that is null has no cell") {
  FieldWorld world;
  world.start();
  world.append(field_reading(kFieldHour.ms, R"("c":230,"att":null)"));
  world.settle();
  CHECK(world.cell("d1", kFieldHour, "c") == Rollup{230, 230, 230, 1});
  CHECK_FALSE(world.cell("d1", kFieldHour, "att"));
  for (const auto& [where, cell] : world.table.rows().begin()->second)
    CHECK(where.second.find("att") == std::string::npos);
  // Null beside what was there before and comes after changes nothing of it.
  world.append(field_reading(kFieldHour.ms + 1, R"("c":null,"att":4)"));
  world.append(field_reading(kFieldHour.ms + 2, R"("c":null,"att":null)"));
  world.settle();
  CHECK(world.cell("d1", kFieldHour, "c") == Rollup{230, 230, 230, 1});
  CHECK(world.cell("d1", kFieldHour, "att") == Rollup{4, 4, 4, 1});
  CHECK(world.member->counters().malformed.get() == 0);
}

TEST_CASE("case 31: the same reading twice is counted once; another value for its time is a conflict") {
  for (const Meanwhile between : kAllMeanwhiles) {
    for (const char* again : {"3", "8"}) {
      CAPTURE(static_cast<int>(between));
      CAPTURE(again);
      FieldWorld world;
      world.start();
      append_values(world, {"3"});
      world.settle();
      const auto row = world.table.rows().find(row_key("d1", kFieldHour, world.settings.buckets))->second;
      world.pass(between);
      const std::uint64_t before = world.member->counters().duplicate.get();
      append_values(world, {again});
      world.settle();
      CHECK(world.cell() == Rollup{3, 3, 3, 1});
      CHECK(world.table.rows().find(row_key("d1", kFieldHour, world.settings.buckets))->second == row);
      CHECK(world.member->counters().duplicate.get() == before + 1);
      CHECK(world.member->counters().conflicts.get() == (std::string(again) == "8" ? 1 : 0));
    }
  }
  // In one record, too, and where it is not the first that is repeated.
  FieldWorld world;
  world.start();
  const std::string three = field_reading(kFieldHour.ms, R"("a":3)");
  const std::string four = field_reading(kFieldHour.ms + 1, R"("a":4)");
  world.append("[" + three + "," + four + "," + three + "," + four + "]");
  world.settle();
  CHECK(world.cell() == Rollup{3, 4, 7, 2});
  CHECK(world.member->counters().duplicate.get() == 2);
}
