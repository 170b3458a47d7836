// The wall clock of a host may be set at any moment. Emission, checkpoints and retries go on within one
// interval of the time that really passes.
#include <doctest/doctest.h>

#include "pipeline/timeline.h"
#include "support/worker_bench.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

constexpr EpochMs kJumps[] = {-24 * kHourMs, -kHourMs, -1, 0, kHourMs, 24 * kHourMs};
constexpr EpochMs kStep = 100;

// Real time until the condition holds; the clock jumps once at the beginning. At most the limit.
template <class Condition>
EpochMs time_until(WorkerBench& bench, EpochMs jump, EpochMs limit, const Condition& condition) {
  bench.now += jump;
  for (EpochMs passed = 0;; passed += kStep, bench.now += kStep) {
    bench.step();
    if (condition() || passed >= limit) return passed;
  }
}

}  // namespace

TEST_CASE("a timeline never goes back and keeps the pace of the clock") {
  Timeline time(1'000);
  CHECK(time.advance(1'500) == 1'500);
  CHECK(time.advance(200) == 1'500);
  CHECK(time.advance(300) == 1'600);
  CHECK(time.ahead_ms() == 1'300);
  CHECK(time.advance(5'000) == 6'300);
  CHECK(time.advance(4'999) == 6'300);
}

TEST_CASE("a changed window is written within one interval after any jump") {
  for (const EpochMs jump : kJumps) {
    CAPTURE(jump);
    for (const EpochMs before : {EpochMs{0}, 30 * kHourMs}) {  // an open hour, a closed one
      WorkerBench bench;
      bench.start();
      bench.now += before;
      REQUIRE(bench.read(0, WorkerBench::reading(1, 1), kBenchHour.ms));
      bench.step();
      const EpochMs limit = before == 0
                                ? bench.settings.emit.refresh_ms
                                : bench.settings.emit.late_delay_ms + bench.settings.emit.closing_spread_ms;
      time_until(bench, jump, limit + 2 * kStep, [&] { return !bench.sink.puts.empty(); });
      CHECK(bench.sink.puts.size() == 1);
    }
  }
}

TEST_CASE("a clock that is set back again and again does not keep a window for ever") {
  WorkerBench bench;
  bench.start();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1), kBenchHour.ms));
  for (int i = 0; i < 8 && bench.sink.puts.empty(); ++i)
    time_until(bench, -kHourMs, 10'000, [&] { return !bench.sink.puts.empty(); });
  CHECK(bench.sink.puts.size() == 1);
}

TEST_CASE("an hour closes by the wall clock, however often that was set back") {
  WorkerBench bench;
  bench.settings.emit = {10 * kHourMs, 5'000, 0};
  bench.start();
  bench.now += 20 * kHourMs;
  bench.step();
  bench.now = kBenchHour.ms + 30 * 60'000;
  bench.step();
  REQUIRE(bench.read(0, WorkerBench::reading(1, 1), kBenchHour.ms));
  const EpochMs passed = time_until(bench, 0, kHourMs, [&] { return !bench.sink.puts.empty(); });
  CHECK(passed >= 30 * 60'000 + 5'000);
  CHECK(passed <= 30 * 60'000 + 5'000 + 2 * kStep);
}

TEST_CASE("checkpoints go on within one interval after any jump") {
  for (const EpochMs jump : kJumps) {
    CAPTURE(jump);
    WorkerBench bench;
    bench.start();
    const auto done = bench.worker->counters().checkpoints.get();
    const EpochMs limit = bench.settings.checkpoint_ms + 2 * kStep;
    for (std::uint64_t more = 1; more <= 2; ++more) {
      time_until(bench, more == 1 ? jump : 0, limit,
                 [&] { return bench.worker->counters().checkpoints.get() >= done + more; });
      CHECK(bench.worker->counters().checkpoints.get() >= done + more);
    }
  }
}

TEST_CASE("what failed is tried again within 30 s after any jump") {
  for (const EpochMs jump : kJumps) {
    CAPTURE(jump);
    WorkerBench bench;
    bench.start(WorkerBench::plan_with(0, kBenchHour));
    REQUIRE(bench.read(0, "{"));
    REQUIRE(bench.read(1, WorkerBench::reading(1, 1), kBenchHour.ms));
    REQUIRE(bench.read(2, WorkerBench::reading(kHourMs + 1, 1), kBenchHour.ms + kHourMs));
    bench.worker->hurry();
    bench.step();
    REQUIRE(bench.sink.puts.size() == 1);
    REQUIRE(bench.sink.look_ups.size() == 1);
    bench.sink.answer_puts(unavailable("down"));
    bench.sink.answer_look_up(unavailable("down"));
    bench.side.sent.clear();
    bench.side.failed.push_back({{0}, 0});
    bench.step();
    REQUIRE(bench.side.sent.empty());
    const auto all = [&] {
      return !bench.sink.puts.empty() && !bench.sink.look_ups.empty() && !bench.side.sent.empty();
    };
    time_until(bench, jump, 30'000, all);
    CHECK(all());
  }
}
