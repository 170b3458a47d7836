// The walk of one reading, in histories of a few steps; whole histories with faults are in
// tests/property/pipeline_sim_test.cc.
#include "pipeline/partition_worker.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/worker_bench.h"

using namespace hourfold;
using namespace hourfold::test;

TEST_CASE("an offset is committed once the Put is acknowledged, not before") {
  WorkerBench bench;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 7)));
  CHECK(bench.worker->needed_from() == Offset{0});
  bench.worker->hurry();
  bench.step();
  REQUIRE(bench.sink.puts.size() == 1);
  CHECK(bench.worker->needed_from() == Offset{0});
  bench.sink.answer_put(0, unknown("cut"));
  bench.step();
  CHECK(bench.worker->needed_from() == Offset{0});
  bench.step(1'000);
  bench.sink.answer_puts({});
  bench.step();
  CHECK(bench.committable() == 1);
  bench.worker->committed({1});
  CHECK(bench.committable() == -1);
}

TEST_CASE("the commit says the highest hour of what is before it, and only of that") {
  WorkerBench bench;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1, "d0"), bench.now, "d0"));
  REQUIRE(bench.read(1, WorkerBench::reading(kHourMs + 1, 1), bench.now + kHourMs));
  REQUIRE(bench.read(2, WorkerBench::reading(2 * kHourMs + 1, 1), bench.now + 2 * kHourMs));
  bench.worker->hurry();
  bench.step();
  for (const auto& put : bench.sink.puts) CHECK(put.rows.size() == 3);
  CHECK(bench.committable() == 0);
  bench.sink.answer_puts({});
  bench.step();
  const auto due = bench.worker->commit_due();
  REQUIRE(due);
  CHECK(due->next == Offset{3});
  CHECK(read_commit_metadata(due->metadata).highest_hour.ms == kBenchHour.ms + 2 * kHourMs);
}

TEST_CASE("duplicates, conflicts and heartbeats are counted and change nothing") {
  WorkerBench bench;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1)));
  REQUIRE(bench.read(1, WorkerBench::reading(1, 1)));
  REQUIRE(bench.read(2, WorkerBench::reading(1, 9)));
  REQUIRE(bench.read(3, R"({"device":"d1","ts":1767222000005,"metrics":{}})"));
  bench.settle();
  const WorkerCounters& counters = bench.worker->counters();
  CHECK(counters.folded.get() == 2);
  CHECK(counters.duplicate.get() == 2);
  CHECK(counters.conflicts.get() == 1);
  CHECK(last_rollup(bench) == Rollup{1, 1, 1, 1});
  CHECK(bench.landed.back().timestamp() == kBenchHour.ms + 1);
  CHECK(bench.committable() == 4);
}

TEST_CASE("the key must be the device, where the configuration says so") {
  WorkerBench bench;
  bench.settings.check_keys = true;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1)));
  const auto read = bench.read(1, WorkerBench::reading(2, 1), std::nullopt, "another");
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("'another'") != std::string::npos);
  CHECK(read.error().message.find("trusted") != std::string::npos);
  CHECK(bench.worker->next_offset() == Offset{1});
}

TEST_CASE(
    "case 21: a row that is refused for good leaves its whole contribution and does not hold the offset") {
  WorkerBench bench;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1)));
  bench.worker->hurry();
  bench.step();
  const std::string contribution = contribution_in(bench.sink.puts[0].rows[0]);
  bench.sink.answer_puts(refused("row too large"));
  bench.step();
  bench.step();
  REQUIRE(bench.side.sent.size() == 1);
  CHECK(bench.side.sent[0].reason == "row_refused");
  CHECK(bench.side.sent[0].detail == "row too large");
  CHECK(bench.side.sent[0].value == contribution);
  CHECK(bench.committable() == 0);
  bench.side.acknowledge_all();
  bench.step();
  CHECK(bench.committable() == 1);
  CHECK(bench.sink.puts.empty());
  // It goes again, whole, when it changes, also after a restart.
  bench.restart();
  REQUIRE(bench.read(1, WorkerBench::reading(2, 1)));
  bench.settle();
  CHECK(last_rollup(bench).count == 2);
}

TEST_CASE("windows that the table refuses do not pile up in memory or in the state") {
  WorkerBench bench;
  bench.settings.max_refused = 2;
  bench.settings.retention_ms = 2 * kHourMs;
  bench.settings.policy.max_age_ms = 20 * kHourMs;
  bench.start();
  for (int i = 0; i < 5; ++i)
    REQUIRE(bench.read(i, WorkerBench::reading(i, 1, "d" + std::to_string(i)), std::nullopt));
  for (int i = 0; i < 20 && bench.worker->counters().rows_refused.get() < 5; ++i) {
    bench.worker->hurry();
    bench.step(31'000);
    bench.sink.answer_puts(refused("no"));
    bench.side.acknowledge_all();
  }
  REQUIRE(bench.worker->counters().rows_refused.get() == 5);
  REQUIRE(bench.worker->checkpoint(bench.now));
  const auto kept = [&] {
    std::size_t count = 0;
    REQUIRE(bench.store->each_pending([&](const WindowKey&, Offset) { ++count; }));
    return count;
  };
  CHECK(kept() == 2);
  CHECK(bench.worker->counters().refused_released.get() == 3);
  // One that was let go is whole when it changes while its hour is in the state.
  for (int i = 0; i < 5; ++i)
    REQUIRE(bench.read(5 + i, WorkerBench::reading(10 + i, 1, "d" + std::to_string(i))));
  bench.settle();
  CHECK(bench.landed.size() == 5);
  for (const RowPut& row : bench.landed) CHECK(row.timestamp() == kBenchHour.ms + 2);

  REQUIRE(bench.read(10, WorkerBench::reading(1, 1, "e")));
  bench.worker->hurry();
  bench.step();
  bench.sink.answer_puts(refused("no"));
  bench.step();
  bench.restart();
  CHECK(kept() == 1);
  // Nothing can change it any more: everything in that hour is too old.
  bench.now += 22 * kHourMs;
  REQUIRE(bench.read(11, WorkerBench::reading(22 * kHourMs, 1, "f")));
  bench.settle();
  REQUIRE(bench.worker->checkpoint(bench.now));
  CHECK(kept() == 0);
}

TEST_CASE("past its bounds the worker is full, and empties again") {
  WorkerBench bench;
  bench.settings.max_outbox = 2;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1, "d1")));
  CHECK_FALSE(bench.worker->full());
  REQUIRE(bench.read(1, WorkerBench::reading(1, 1, "d2")));
  CHECK(bench.worker->full());
  bench.settle();
  CHECK_FALSE(bench.worker->full());
}

TEST_CASE("windows beyond the memory are unloaded and come back as they were") {
  WorkerBench bench;
  bench.settings.memory_bytes = 20'000;
  bench.start();
  std::int64_t offset = 0;
  for (int round = 0; round < 3; ++round) {
    for (int device = 0; device < 100; ++device) {
      REQUIRE(bench.read(offset++, WorkerBench::reading(round, 1, "d" + std::to_string(device))));
    }
    bench.step(70'000);
    CHECK(bench.worker->counters().window_bytes.get() <= 20'000);
  }
  bench.settle();
  CHECK(bench.worker->drained());
  CHECK(last_rollup(bench).count == 3);
  CHECK(bench.committable() == 300);
}

TEST_CASE("what ends the log and is no record is passed, also in the commit, and holds nothing pending up") {
  WorkerBench bench;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1)));
  REQUIRE(bench.read(2, WorkerBench::reading(2, 1)));
  REQUIRE(bench.read_to(4));
  CHECK(bench.worker->next_offset() == Offset{4});
  CHECK(bench.committable() == 0);
  bench.settle();
  CHECK(bench.committable() == 4);
  REQUIRE(bench.read_to(3));
  CHECK(bench.worker->next_offset() == Offset{4});
  bench.restart();
  CHECK(bench.worker->next_offset() == Offset{4});
}

TEST_CASE("records below the position are dropped, holes are normal") {
  WorkerBench bench;
  bench.start(WorkerBench::plan_with(5, HourStart::lowest()));
  REQUIRE(bench.read(3, WorkerBench::reading(1, 1)));
  REQUIRE(bench.read(9, WorkerBench::reading(2, 1)));
  REQUIRE(bench.read(9, WorkerBench::reading(3, 1)));
  CHECK(bench.worker->counters().consumed.get() == 1);
  CHECK(bench.worker->next_offset() == Offset{10});
}
