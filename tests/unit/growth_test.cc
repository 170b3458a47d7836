// A worker whose topic grows: what it has written whole counts once growth is ruled out, and is written
// again, as one contribution of several, when it is not.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "pipeline/unproven_acks.h"
#include "support/worker_bench.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

struct GrowthBench : WorkerBench {
  GrowthBench() { settings.may_grow = true; }
  void land() {
    worker->hurry();
    step();
    for (const auto& put : sink.puts) {
      for (const RowPut& row : put.rows) landed.push_back(row);
    }
    sink.answer_puts({});
    step();
  }
  void share() { worker->share({}, 9, now); }
  // A reading of an hour that an owner before us may have written.
  void look_up_reading_5() {
    REQUIRE(read(5, reading(1, 1), kArrival + 5));
    step();
  }
  std::uint64_t unproven() const { return worker->counters().unproven.get(); }
};

// As that owner left it: with the reading.
RowLookup row_with_reading_5() {
  FoldTools tools;
  Window window(true, tools.schemas);
  const std::vector<Metric> metrics = {{"a", 1}};
  fold(window, tools, metrics, 1, {{5}, 0});
  return found(bytes_of(window), kBenchHour.ms + 1);
}

RowLookup behind(RowLookup row) {
  row.behind = true;
  return row;
}

std::string families(const RowPut& put) {
  std::string found;
  for (std::size_t i = 0; i < put.cell_count(); ++i) found += put.cell(i).family;
  return found;
}

}  // namespace

TEST_CASE("an acknowledged Put counts once the topic is known not to have grown") {
  GrowthBench bench;
  bench.start();
  REQUIRE(bench.read(0, bench.reading(1, 1)));
  REQUIRE(bench.read(1, bench.reading(2, 2)));
  bench.land();
  CHECK(bench.unproven() == 1);
  CHECK(bench.committable() == 0);
  const std::uint64_t asked = bench.worker->acknowledgements();
  REQUIRE(bench.read(2, bench.reading(3, 3)));
  bench.land();
  bench.worker->prove(asked);
  CHECK(bench.committable() == 2);
  bench.worker->prove(bench.worker->acknowledgements());
  CHECK(bench.committable() == 3);
  CHECK(bench.worker->drained());
}

TEST_CASE("when it has grown, what is not proven is written again as a contribution") {
  GrowthBench bench;
  bench.start();
  REQUIRE(bench.read(0, bench.reading(1, 1)));
  bench.land();
  bench.worker->prove(bench.worker->acknowledgements());
  REQUIRE(bench.read(1, bench.reading(1, 1, "d2")));
  bench.land();
  REQUIRE(bench.read(2, bench.reading(2, 1, "d2")));
  bench.landed.clear();
  bench.share();
  CHECK(bench.unproven() == 1);  // until the next step
  CHECK(bench.committable() == 1);
  bench.land();
  REQUIRE(bench.landed.size() == 1);
  CHECK(families(bench.landed[0]) == "s");
  CHECK(bench.landed[0].timestamp() == kBenchHour.ms + 2);
  CHECK(bench.committable() == 3);
  CHECK(read_commit_metadata(bench.worker->commit_due()->metadata).partition_count == 9);
}

TEST_CASE("a whole row on its way when the growth is heard of does not count") {
  GrowthBench bench;
  bench.start();
  REQUIRE(bench.read(0, bench.reading(1, 1)));
  bench.worker->hurry();
  bench.step();
  REQUIRE(bench.sink.puts.size() == 1);
  CHECK_FALSE(bench.sink.puts[0].shared);
  bench.share();
  bench.sink.answer_puts({});
  bench.step();
  CHECK(bench.committable() == 0);
  REQUIRE(bench.sink.puts.size() == 1);
  CHECK(bench.sink.puts[0].shared);
  bench.sink.answer_puts({});
  bench.step();
  CHECK(bench.committable() == 1);
}

TEST_CASE("what an owner before us wrote whole is not proven either") {
  GrowthBench bench;
  bench.start(bench.plan_with(5, kBenchHour));
  bench.look_up_reading_5();
  bench.sink.answer_look_up(std::vector{row_with_reading_5()});
  bench.step();
  CHECK(bench.worker->counters().already_counted.get() == 1);
  CHECK(bench.committable() == -1);
  SUBCASE("it has not grown") {
    bench.worker->prove(bench.worker->acknowledgements());
    CHECK(bench.committable() == 6);
  }
  SUBCASE("it has") {
    bench.share();
    bench.land();
    REQUIRE(bench.landed.size() == 1);
    CHECK(families(bench.landed[0]) == "s");
    CHECK(bench.committable() == 6);
  }
}

TEST_CASE("a row of an older generation stays as it is") {
  GrowthBench bench;
  StartPlan plan = bench.plan_with(5, kBenchHour);
  plan.marks.generation = {1};
  bench.start(std::move(plan));
  bench.look_up_reading_5();
  bench.sink.answer_look_up(std::vector{row_with_reading_5()});
  bench.step();
  CHECK(bench.committable() == 6);
  bench.restart();
  bench.land();
  CHECK(bench.landed.empty());
}

TEST_CASE("a row whose totals are behind is pending, though its reading is in the contribution") {
  GrowthBench bench;
  bench.settings.shared.emplace();
  bench.start(bench.plan_with(5, kBenchHour));
  bench.look_up_reading_5();
  REQUIRE(bench.sink.look_ups.size() == 1);
  CHECK(bench.sink.look_ups[0].shared);
  const RowLookup row = row_with_reading_5();
  SUBCASE("behind") {
    bench.sink.answer_look_up(std::vector{behind(row)});
    bench.step();
    CHECK(bench.committable() == -1);
    SUBCASE("also across a crash") { bench.restart(); }
    bench.land();
    CHECK(bench.landed.size() == 1);
    CHECK(bench.committable() == 6);
  }
  SUBCASE("not behind") {
    bench.sink.answer_look_up(std::vector{row});
    bench.step();
    CHECK(bench.committable() == 6);
  }
}

TEST_CASE("a look-up that was on its way when the growth is heard of may have missed that") {
  GrowthBench bench;
  bench.start(bench.plan_with(5, kBenchHour));
  bench.look_up_reading_5();
  bench.share();
  bench.sink.answer_look_up(std::vector{row_with_reading_5()});
  bench.step();
  CHECK(bench.committable() == -1);
  bench.land();
  CHECK(bench.landed.size() == 1);
  CHECK(bench.committable() == 6);
}

TEST_CASE("what is not proven is pending in the state, and does not expire") {
  GrowthBench bench;
  bench.start();
  REQUIRE(bench.read(0, bench.reading(1, 1)));
  bench.land();
  // Arrivals two days on.
  const EpochMs later = bench.now + 72 * kHourMs;
  REQUIRE(
      bench.read(1, "{\"device\":\"d9\",\"ts\":" + std::to_string(later) + ",\"metrics\":{\"a\":1}}", later));
  bench.now = later;
  bench.restart();
  CHECK(bench.committable() == 0);
  bench.landed.clear();
  bench.land();
  CHECK(bench.landed.size() == 2);
}

TEST_CASE("acknowledgements that nobody proves are bounded") {
  GrowthBench bench;
  bench.settings.max_outbox = 3;
  bench.start();
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(bench.worker->full());
    REQUIRE(bench.read(i, bench.reading(1, 1, "d" + std::to_string(i))));
    bench.land();
  }
  CHECK(bench.worker->full());
  bench.worker->prove(2);
  CHECK_FALSE(bench.worker->full());
}

TEST_CASE("the lowest offset of what is not proven, whatever the order") {
  DeviceEntry device;
  OpenWindow a(&device, kBenchHour);
  OpenWindow b(&device, kBenchHour);
  UnprovenAcks acks;
  CHECK_FALSE(acks.lowest());
  acks.add(a, {5});
  acks.add(b, {3});
  acks.add(a, {9});
  CHECK(acks.lowest() == Offset{3});
  CHECK(a.first_unproven == Offset{5});
  std::vector<const OpenWindow*> done;
  const auto note = [&](OpenWindow& entry) { done.push_back(&entry); };
  acks.prove(1, note);
  CHECK(acks.lowest() == Offset{3});
  CHECK(done.empty());
  acks.prove(2, note);
  CHECK(acks.lowest() == Offset{9});
  CHECK(done == std::vector<const OpenWindow*>{&b});
  CHECK(a.must_stay());
  CHECK(acks.give_up().size() == 1);
  CHECK_FALSE(acks.lowest());
  CHECK_FALSE(a.must_stay());
  acks.add(b, {7});
  acks.prove(acks.count(), note);
  CHECK(done.size() == 2);
  CHECK(acks.size() == 0);
}
