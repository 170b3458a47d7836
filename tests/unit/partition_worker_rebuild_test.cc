// A worker of a rebuild: what it writes when, and what it must not forget.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/worker_bench.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

StartPlan rebuild_of(std::int64_t end, HourStart whole_from = HourStart::lowest()) {
  StartPlan plan = WorkerBench::plan_with(
      0, whole_from == HourStart::lowest() ? whole_from : HourStart{whole_from.ms - kHourMs});
  plan.marks.rebuild.emplace();
  plan.marks.rebuild->end = {end};
  plan.marks.rebuild->whole_from = whole_from;
  return plan;
}

std::int64_t hours_of(const RowPut& put) {
  return (split_row_key(put.key())->hour.ms - kBenchHour.ms) / kHourMs;
}

// A reading of d1 in the nth hour of the bench, arrived in that hour.
Result<void> read_in_hour(WorkerBench& bench, std::int64_t offset, int n, const std::string& device = "d1") {
  return bench.read(offset, WorkerBench::reading(n * kHourMs + 1 + offset, 1, device),
                    kBenchHour.ms + n * kHourMs + 1'000, device);
}

void read_to(WorkerBench& bench, std::int64_t offset) {
  RecordBatch batch;
  batch.read_to = Offset{offset};
  HF_CHECK(bench.worker->fold(batch, bench.now));
}

}  // namespace

TEST_CASE("a rebuild writes nothing before the end, then what arrivals have passed, then all") {
  WorkerBench bench;
  bench.settings.retention_ms = 2 * kHourMs;
  bench.now += 100 * kHourMs;
  bench.start(rebuild_of(5));
  for (int n = 0; n < 4; ++n) REQUIRE(read_in_hour(bench, n, n));
  bench.settle();
  CHECK(bench.landed.empty());
  CHECK(bench.committable() == -1);
  CHECK_FALSE(bench.worker->settled(bench.now));
  REQUIRE(read_in_hour(bench, 4, 4));
  bench.settle();
  // The highest arrival is in hour 4: those below 4 - 2 have settled.
  REQUIRE(bench.landed.size() == 2);
  CHECK(hours_of(bench.landed[0]) == 0);
  CHECK(hours_of(bench.landed[1]) == 1);
  CHECK(bench.committable() == 2);
  CHECK(bench.worker->settled(bench.now));
  REQUIRE(read_in_hour(bench, 5, 5));
  bench.settle();
  CHECK(bench.landed.size() == 3);
  CHECK(bench.committable() == 3);
  // A correction of an hour that is out goes at once.
  REQUIRE(read_in_hour(bench, 6, 0, "d2"));
  bench.settle();
  CHECK(bench.landed.size() == 4);
  bench.worker->release_all();
  bench.settle();
  CHECK(bench.landed.size() == 7);
  CHECK(bench.committable() == 7);
  REQUIRE(read_in_hour(bench, 7, 5));
  bench.settle();
  CHECK(bench.landed.back().timestamp() == kBenchHour.ms + 5 * kHourMs + 2);
}

TEST_CASE("held windows need no memory, survive restarts and are all written, however many") {
  WorkerBench bench;
  bench.settings.memory_bytes = 64 << 10;
  bench.settings.max_outbox = 1'000;
  bench.now += 100 * kHourMs;
  constexpr int kDevices = 6'000;  // more than are released at once
  bench.start(rebuild_of(kDevices));
  for (int i = 0; i < kDevices; ++i) {
    const std::string device = "d" + std::to_string(i);
    REQUIRE(bench.read(i, WorkerBench::reading(1, 1, device), bench.now, device));
    if (i % 1'000 == 999) HF_CHECK(bench.worker->checkpoint(bench.now));
    if (i == kDevices / 2) bench.restart();
  }
  HF_CHECK(bench.worker->checkpoint(bench.now));
  CHECK(bench.worker->counters().windows_in_memory.get() < kDevices / 4);
  CHECK(bench.worker->needed_from() == Offset{0});
  bench.restart();
  CHECK(bench.worker->needed_from() == Offset{0});
  bench.worker->release_all();
  for (int i = 0; i < 4; ++i) bench.settle();
  std::vector<std::string> keys;
  for (const RowPut& put : bench.landed) keys.push_back(put.key());
  std::ranges::sort(keys);
  CHECK(std::ranges::unique(keys).begin() == keys.end());
  CHECK(keys.size() == kDevices);
  CHECK(bench.committable() == kDevices);
}

TEST_CASE("released in part, restarted: what is left is written, and the offset waits for it") {
  WorkerBench bench;
  bench.settings.retention_ms = 2 * kHourMs;
  bench.now += 100 * kHourMs;
  bench.start(rebuild_of(4));
  for (int n = 0; n < 4; ++n) REQUIRE(read_in_hour(bench, n, n));
  bench.settle();
  REQUIRE(bench.landed.size() == 1);
  bench.restart();
  CHECK(bench.worker->needed_from() == Offset{1});
  bench.worker->release_all();
  bench.settle();
  CHECK(bench.landed.size() == 4);
  CHECK(bench.committable() == 4);
}

TEST_CASE("held hours do not expire") {
  WorkerBench bench;
  bench.settings.retention_ms = kHourMs;
  bench.now += 100 * kHourMs;
  bench.start(rebuild_of(3));
  REQUIRE(read_in_hour(bench, 0, 0));
  REQUIRE(read_in_hour(bench, 1, 50));
  HF_CHECK(bench.worker->checkpoint(bench.now));
  CHECK(bench.worker->counters().windows_expired.get() == 0);
  REQUIRE(read_in_hour(bench, 2, 0));
  bench.settle();
  REQUIRE_FALSE(bench.landed.empty());
  CHECK(bench.landed[0].timestamp() == kBenchHour.ms + 2);
  HF_CHECK(bench.worker->checkpoint(bench.now));
  CHECK(bench.worker->counters().windows_expired.get() == 1);
}

TEST_CASE("a rebuild with an end folds nothing behind it, and markers at the end count as read") {
  WorkerBench bench;
  bench.settings.ends_with_rebuild = true;
  bench.now += 100 * kHourMs;
  bench.start(rebuild_of(4));
  REQUIRE(read_in_hour(bench, 0, 0));
  REQUIRE(read_in_hour(bench, 1, 0));
  SUBCASE("a record behind the end") { REQUIRE(read_in_hour(bench, 7, 0)); }
  SUBCASE("the end of the log") { read_to(bench, 4); }
  SUBCASE("the end of a log that has grown") { read_to(bench, 9); }
  bench.settle();
  REQUIRE(bench.landed.size() == 1);
  CHECK(bench.landed[0].timestamp() == kBenchHour.ms + 2);
  CHECK(bench.worker->next_offset() == Offset{4});
  CHECK(bench.committable() == 4);
}

TEST_CASE("a whole hour begins anew, whatever an older generation has of it") {
  for (const bool with_contribution : {true, false}) {
    CAPTURE(with_contribution);
    WorkerBench bench;
    bench.now += 100 * kHourMs;
    StartPlan plan = rebuild_of(0, kBenchHour);
    plan.marks.generation = {1};
    plan.marks.look_below = kBenchHour;  // as after expiry
    bench.start(std::move(plan));
    bench.worker->release_all();
    REQUIRE(bench.read(0, WorkerBench::reading(5, 7)));
    bench.step();
    REQUIRE(bench.sink.look_ups.size() == 1);
    RowLookup row;
    row.has_rollup = true;
    if (with_contribution) {
      FoldTools tools;
      Window old(true, tools.schemas);
      const std::vector<Metric> metrics = {{"a", 1}};
      fold(old, tools, metrics, 3, {{77}, 0});
      row = found(bytes_of(old), kBenchHour.ms + 1);
    }
    bench.sink.answer_look_up(std::vector<RowLookup>{row});
    bench.settle();
    CHECK(last_rollup(bench) == Rollup{7, 7, 7, 1});
    CHECK(bench.landed.back().timestamp() == kBenchHour.ms + kHourMs + 1);
  }
}

TEST_CASE("an hour that is not whole keeps what it has, and goes on from there") {
  WorkerBench bench;
  bench.now += 100 * kHourMs;
  StartPlan plan = rebuild_of(10, {kBenchHour.ms + kHourMs});
  plan.marks.generation = {1};
  bench.start(std::move(plan));
  REQUIRE(bench.read(4, WorkerBench::reading(4, 2)));
  REQUIRE(bench.read(5, WorkerBench::reading(5, 3)));
  bench.step();
  FoldTools tools;
  Window old(true, tools.schemas);
  const std::vector<Metric> metrics = {{"a", 1}};
  // Another arrival at that position is no proof of anything here.
  old.fold(metrics, 1, {{5}, 0}, 12'345, tools);
  REQUIRE(bench.sink.look_ups.size() == 1);
  bench.sink.answer_look_up(std::vector<RowLookup>{found(bytes_of(old), kBenchHour.ms + 1)});
  bench.settle();
  CHECK(bench.worker->counters().already_counted.get() == 2);
  bench.worker->release_all();
  read_to(bench, 10);
  bench.settle();
  CHECK(bench.landed.empty());
  REQUIRE(bench.read(10, WorkerBench::reading(6, 5)));
  bench.settle();
  CHECK(last_rollup(bench) == Rollup{1, 5, 6, 2});
  CHECK(bench.landed.back().timestamp() == kBenchHour.ms + kHourMs + 2);
}

TEST_CASE("where only whole hours count, the others are left out until the end") {
  WorkerBench bench;
  bench.now += 100 * kHourMs;
  StartPlan plan = rebuild_of(2, {kBenchHour.ms + kHourMs});
  plan.marks.rebuild->only_whole = true;
  bench.start(std::move(plan));
  REQUIRE(read_in_hour(bench, 0, 0));
  REQUIRE(read_in_hour(bench, 1, 1));
  bench.worker->release_all();
  bench.settle();
  REQUIRE(bench.landed.size() == 1);
  CHECK(hours_of(bench.landed[0]) == 1);
  CHECK(bench.worker->counters().already_counted.get() == 1);
  CHECK(bench.committable() == 2);
}

TEST_CASE("the commit carries what the rebuild must not forget") {
  WorkerBench bench;
  bench.now += 100 * kHourMs;
  bench.settings.retention_ms = 2 * kHourMs;
  bench.start(rebuild_of(4, {kBenchHour.ms - 3 * kHourMs}));
  for (int n = 0; n < 4; ++n) REQUIRE(read_in_hour(bench, n, n));
  bench.settle();
  const auto due = bench.worker->commit_due();
  REQUIRE(due);
  const auto rebuild = read_commit_metadata(due->metadata).rebuild;
  REQUIRE(rebuild);
  CHECK(rebuild->end == Offset{4});
  CHECK(rebuild->whole_from.ms == kBenchHour.ms - 3 * kHourMs);
}
