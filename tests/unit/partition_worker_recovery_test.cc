// What a worker takes up from its disk and from the table, in histories of a few steps.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "pipeline/partition_worker.h"
#include "support/worker_bench.h"

using namespace hourfold;
using namespace hourfold::test;

TEST_CASE("side records and waiting readings survive a restart and still hold the offset") {
  WorkerBench bench;
  bench.start(WorkerBench::plan_with(5, kBenchHour));
  REQUIRE(bench.read(5, "{"));
  REQUIRE(bench.read(6, WorkerBench::reading(1, 2)));
  CHECK(bench.worker->counters().waiting.get() == 1);
  bench.restart();
  CHECK(bench.worker->needed_from() == Offset{5});
  CHECK(bench.worker->next_offset() == Offset{7});
  CHECK(bench.worker->counters().consumed.get() == 1);
  bench.settle();
  CHECK(bench.side.sent.size() == 1);
  CHECK(last_rollup(bench).count == 1);
  CHECK(bench.committable() == 7);
}

TEST_CASE("a window at or below the mark is looked up; one above is not") {
  WorkerBench bench;
  bench.start(WorkerBench::plan_with(0, kBenchHour));
  REQUIRE(bench.read(0, WorkerBench::reading(1, 2)));
  REQUIRE(bench.read(1, WorkerBench::reading(kHourMs + 1, 2), bench.now + kHourMs));
  bench.step();
  REQUIRE(bench.sink.look_ups.size() == 1);
  CHECK(bench.sink.look_ups[0].keys == std::vector<std::string>{row_key("d1", kBenchHour, 1)});
  CHECK(bench.worker->counters().folded.get() == 1);
  CHECK(bench.worker->counters().waiting.get() == 1);
}

TEST_CASE("a look-up's contribution is gone on from; what it holds is already counted") {
  WorkerBench first;
  first.start();
  for (int i = 0; i < 5; ++i) REQUIRE(first.read(i, WorkerBench::reading(i, i), 1'767'223'000'000 + i));
  first.settle();
  WorkerBench bench;
  bench.start(WorkerBench::plan_with(2, kBenchHour));
  for (int i = 2; i < 7; ++i) REQUIRE(bench.read(i, WorkerBench::reading(i, i), 1'767'223'000'000 + i));
  bench.step();
  bench.sink.answer_look_up(
      std::vector{found(contribution_in(first.landed.back()), first.landed.back().timestamp())});
  bench.settle();
  CHECK(bench.worker->counters().already_counted.get() == 3);
  CHECK(bench.worker->counters().folded.get() == 2);
  CHECK(last_rollup(bench) == Rollup{0, 6, 21, 7});
  CHECK(bench.landed.back().timestamp() == kBenchHour.ms + 7);
}

TEST_CASE("a contribution ahead of us must match when we reach its last record") {
  WorkerBench first;
  first.start();
  for (int i = 0; i < 5; ++i) REQUIRE(first.read(i, WorkerBench::reading(i, i), 1'767'223'000'000 + i));
  first.settle();
  WorkerBench bench;
  bench.start(WorkerBench::plan_with(3, kBenchHour));
  REQUIRE(bench.read(3, WorkerBench::reading(9, 1)));
  REQUIRE(bench.read(4, WorkerBench::reading(10, 1)));
  bench.step();
  bench.sink.answer_look_up(
      std::vector{found(contribution_in(first.landed.back()), first.landed.back().timestamp())});
  const auto stepped = bench.worker->step(bench.now);
  REQUIRE_FALSE(stepped);
  CHECK(stepped.error().kind == ErrorKind::kFatal);
  CHECK(stepped.error().message.find("created again") != std::string::npos);
}

namespace {

// A worker that starts at an offset and looks d1 up, whose contribution in the table goes to offset 4.
struct Recreated {
  WorkerBench bench;

  Recreated(std::int64_t next, std::int64_t log_end, bool rules_changed = false) {
    WorkerBench first;
    first.start();
    for (int i = 0; i < 5; ++i) REQUIRE(first.read(i, WorkerBench::reading(i, i), 1'767'223'000'000 + i));
    first.settle();
    StartPlan plan = WorkerBench::plan_with(next, kBenchHour);
    plan.log_end = {log_end};
    plan.rules_changed = rules_changed;
    bench.start(plan);
    REQUIRE(bench.read(next, WorkerBench::reading(9, 1)));
    bench.step();
    bench.sink.answer_look_up(
        std::vector{found(contribution_in(first.landed.back()), first.landed.back().timestamp())});
    bench.step();
  }
};

void check_stops(const Result<void>& outcome) {
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().kind == ErrorKind::kFatal);
  CHECK(outcome.error().message.find("created again") != std::string::npos);
  CHECK(outcome.error().message.find("offset 4") != std::string::npos);
}

}  // namespace

TEST_CASE("a contribution at or beyond the end of the log is a doubt, and a fresh answer settles it") {
  Recreated behind(0, 5);
  CHECK_FALSE(behind.bench.worker->doubted());
  Recreated at_end(0, 4);
  REQUIRE(at_end.bench.worker->doubted() == Offset{4});
  CHECK(at_end.bench.worker->log_ends_at({5}, {4}).has_value());
  CHECK_FALSE(at_end.bench.worker->doubted());
  Recreated beyond(0, 2);
  REQUIRE(beyond.bench.worker->doubted() == Offset{4});
  check_stops(beyond.bench.worker->log_ends_at({4}, {4}));
}

TEST_CASE("an answer to an older doubt says nothing about a newer one") {
  Recreated recreated(0, 2);
  CHECK(recreated.bench.worker->log_ends_at({3}, {2}).has_value());
  CHECK(recreated.bench.worker->doubted() == Offset{4});
}

TEST_CASE("the record at a contribution's last position must hold that reading, whatever it is now") {
  const EpochMs arrival = 1'767'223'000'004;
  const struct {
    std::optional<std::string> value;
    EpochMs timestamp;
    bool same;
  } cases[] = {
      {WorkerBench::reading(4, 4), arrival, true},
      {WorkerBench::reading(4, 4, "d2"), arrival + 1, false},  // of another window
      {"{", arrival, false},
      {std::nullopt, arrival, false},
  };
  for (const auto& one : cases) {
    CAPTURE(one.value.value_or("null"));
    Recreated recreated(0, 5);
    const auto read = recreated.bench.read(4, one.value, one.timestamp);
    if (one.same) {
      CHECK(read.has_value());
    } else {
      check_stops(read);
    }
  }
}

TEST_CASE("a last position that a compaction has removed, and rules that have changed, prove nothing") {
  Recreated compacted(0, 9);
  CHECK(compacted.bench.read(6, WorkerBench::reading(4, 4, "d2")).has_value());
  Recreated changed(0, 9, true);
  CHECK(changed.bench.read(4, WorkerBench::reading(4, 4, "d2")).has_value());
}

TEST_CASE("a record whose offset was folded with another time stops the partition") {
  WorkerBench bench;
  StartPlan plan = WorkerBench::plan_with(7, HourStart::lowest());
  plan.marks.last_folded = FoldedRecord{{9}, 1'234};
  bench.start(plan);
  REQUIRE(bench.read(7, WorkerBench::reading(1, 1)));
  const auto read = bench.read(9, WorkerBench::reading(2, 1), bench.now);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("timestamp") != std::string::npos);
  bench.start(plan);
  CHECK(bench.read(9, WorkerBench::reading(2, 1), 1'234 + 0).has_value());
}

TEST_CASE("rollups without the contribution they were made of: dead letter, no fold") {
  WorkerBench bench;
  bench.start(WorkerBench::plan_with(0, kBenchHour));
  REQUIRE(bench.read(0, WorkerBench::reading(1, 2)));
  REQUIRE(bench.read(1, "[" + WorkerBench::reading(2, 2) + "," + WorkerBench::reading(3, 2.5) + "]"));
  bench.step();
  RowLookup row;
  row.has_rollup = true;
  bench.sink.answer_look_up(std::vector{row});
  bench.step();
  bench.step();
  REQUIRE(bench.side.sent.size() == 3);
  CHECK(bench.side.sent[0].reason == "contribution_missing");
  CHECK(bench.side.sent[0].value == WorkerBench::reading(1, 2));
  // Of a batch the reading alone.
  CHECK(bench.side.sent[2].value == R"({"device":"d1","ts":1767222000003,"metrics":{"a":2.5}})");
  CHECK(bench.side.sent[2].position == Position{{1}, 1});
  CHECK(bench.worker->counters().malformed.get() == 3);
  CHECK(bench.worker->counters().dead_contribution_missing.get() == 3);
  bench.settle();
  CHECK(bench.landed.empty());
  CHECK(bench.committable() == 2);
}

TEST_CASE("a look-up that meets a higher generation stops the worker") {
  WorkerBench first;
  first.start();
  REQUIRE(first.read(0, WorkerBench::reading(0, 1)));
  first.settle();
  WorkerBench bench;
  bench.start(WorkerBench::plan_with(0, kBenchHour));
  REQUIRE(bench.read(0, WorkerBench::reading(0, 1)));
  bench.step();
  bench.sink.answer_look_up(
      std::vector{found(contribution_in(first.landed.back()), kBenchHour.ms + kHourMs + 1)});
  const auto stepped = bench.worker->step(bench.now);
  REQUIRE_FALSE(stepped);
  CHECK(stepped.error().message.find("generation 1") != std::string::npos);
}

TEST_CASE("lost ranges and changes of rules that the state records can be seen, also after a restart") {
  WorkerBench bench;
  StartPlan plan = WorkerBench::plan_with(50, HourStart::highest());
  plan.marks.lost = {{{3}, {10}}, {{40}, {50}}};
  plan.marks.fingerprint_changes = {{{12}, "0123456789abcdef"}};
  bench.start(plan);
  bench.restart();
  CHECK(bench.worker->counters().lost_ranges.get() == 2);
  CHECK(bench.worker->counters().lost_offsets.get() == 17);
  CHECK(bench.worker->counters().rule_changes.get() == 1);
}

TEST_CASE("windows that the table has not acknowledged do not expire") {
  WorkerBench bench;
  bench.settings.retention_ms = 2 * kHourMs;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1)));
  bench.now += 10 * kHourMs;
  REQUIRE(bench.read(1, WorkerBench::reading(10 * kHourMs, 1)));
  REQUIRE(bench.worker->checkpoint(bench.now));
  CHECK(bench.worker->counters().windows_expired.get() == 0);
  bench.restart();
  bench.settle();
  CHECK(bench.landed.size() == 2);
}

TEST_CASE("a forged arrival expires nothing") {
  WorkerBench bench;
  bench.settings.retention_ms = 2 * kHourMs;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1)));
  REQUIRE(bench.read(1, WorkerBench::reading(2, 1), bench.now + 20 * 24 * kHourMs));
  bench.settle();
  REQUIRE(bench.worker->checkpoint(bench.now));
  CHECK(bench.worker->counters().windows_expired.get() == 0);
  CHECK(bench.worker->marks().look_below < kBenchHour);
}

TEST_CASE("a reading that does not fit is not lost when the worker ends before its dead letter is written") {
  std::string wide = R"({"device":"d1","ts":1767222000001,"metrics":{)";
  for (int i = 0; i < 4096; ++i) wide += (i == 0 ? "\"m" : ",\"m") + std::to_string(i) + "\":1";
  wide += "}}";
  const std::vector<std::string> records{wide, WorkerBench::reading(2, 1),
                                         R"({"device":"d1","ts":1767222000003,"metrics":{"m0":1}})"};
  WorkerBench first;
  first.start();
  for (int i = 0; i < 3; ++i)
    REQUIRE(first.read(i, records[static_cast<std::size_t>(i)], 1'767'223'000'000 + i));
  first.worker->hurry();
  first.step();
  REQUIRE(first.side.sent.size() == 1);  // and the worker ends before it is acknowledged
  const RowPut put = first.sink.puts[0].rows[0];

  WorkerBench second;
  second.start(WorkerBench::plan_with(1, kBenchHour));
  for (int i = 1; i < 3; ++i)
    REQUIRE(second.read(i, records[static_cast<std::size_t>(i)], 1'767'223'000'000 + i));
  second.step();
  second.sink.answer_look_up(std::vector{found(contribution_in(put), put.timestamp())});
  second.step();
  second.step();
  REQUIRE(second.side.sent.size() == 1);
  CHECK(second.side.sent[0].reason == "contribution_full");
  CHECK(second.worker->counters().malformed.get() == 1);
  CHECK(second.worker->counters().already_counted.get() == 1);
}

TEST_CASE("case 22: after a gap everything that the table has acknowledged is forgotten and looked up") {
  WorkerBench bench;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1, "d1")));
  bench.settle();
  REQUIRE(bench.read(1, WorkerBench::reading(1, 1, "d2")));
  REQUIRE(bench.worker->checkpoint(bench.now));
  bench.worker.reset();
  StartPlan plan = WorkerBench::plan_with(50, HourStart::highest());
  plan.state = StartPlan::State::kKeep;
  plan.forget_windows = true;
  bench.start(plan);
  REQUIRE(bench.read(50, WorkerBench::reading(2, 1, "d1")));
  CHECK(bench.worker->counters().waiting.get() == 1);
  bench.landed.clear();
  bench.settle();
  CHECK(bench.landed.size() == 2);
}
