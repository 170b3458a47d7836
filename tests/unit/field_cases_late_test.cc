// Cases met in the field: late readings, backlogs, corrections. docs/TESTING.md lists all of them.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/field_world.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

const std::string kOne = R"("a":1)";

// So many readings of 1 within the hour, from its beginning, a second apart.
void append_ones(FieldWorld& world, int count) {
  for (int i = 0; i < count; ++i) world.append(field_reading(kFieldHour.ms + i * 1'000, kOne));
}

}  // namespace

TEST_CASE("case 1: a late reading joins the hour that was emitted, whatever came between") {
  for (const Meanwhile between : kAllMeanwhiles) {
    CAPTURE(static_cast<int>(between));
    FieldWorld world;
    world.start();
    append_ones(world, 10);
    world.settle();
    CHECK(world.cell() == Rollup{1, 1, 10, 10});
    world.pass(between);
    world.append(field_reading(kFieldHour.ms + 20 * kMinuteMs + 1, R"("a":5)"));
    world.settle();
    CHECK(world.cell() == Rollup{1, 5, 15, 11});
    CHECK(world.puts_of("d1", kFieldHour) == 2);
  }
}

TEST_CASE("case 2: 400,000 readings of one hour come to the same cells in one round as in twenty") {
  constexpr std::size_t kReadings = 400'000;
  for (const std::size_t devices : {1U, 400U}) {
    std::vector<FieldRecord> log;
    for (std::size_t i = 0; i < kReadings; ++i) {
      // Nine milliseconds apart, with some jitter, out of order within a device's neighbours.
      const auto at = static_cast<EpochMs>((i ^ 1U) * 9 + i * 7919 % 9);
      const std::string device = "d" + std::to_string(i % devices);
      log.push_back(
          {kFieldHour.ms + at,
           field_reading(kFieldHour.ms + at, "\"a\":" + std::to_string(i * 31 % 1000) + ".1", device),
           device});
    }
    std::vector<std::map<std::string, SimTable::Row>> tables;
    for (const std::size_t rounds : {1U, 20U}) {
      CAPTURE(devices);
      CAPTURE(rounds);
      FieldWorld world;
      world.log = log;
      world.now = kFieldHour.ms + kHourMs;
      world.start();
      for (std::size_t round = 0; round + 1 < rounds; ++round) {
        world.read(*world.member, kReadings / rounds);
        world.member->worker->hurry();
        world.step(*world.member, 1'000);
        CHECK_FALSE(world.member->sink.puts.empty());
        world.land(*world.member);
        world.step(*world.member);
      }
      world.settle();
      CHECK(world.member->counters().folded.get() == kReadings);
      CHECK(world.cell("d0")->count == static_cast<std::int64_t>(kReadings / devices));
      tables.push_back(world.table.rows());
    }
    CHECK(tables[0] == tables[1]);
  }
}

TEST_CASE("case 3: a backlog three days old is folded whole when it is read at once") {
  for (const bool stamped_late : {false, true}) {  // by the bridge that kept it
    CAPTURE(stamped_late);
    FieldWorld world;
    const HourStart first = kFieldHour;
    world.now = first.ms + 3 * kDayMs;
    for (EpochMs at = first.ms; at < world.now; at += kMinuteMs)
      world.append_at(stamped_late ? world.now : at + 500, field_reading(at, kOne));
    world.start();
    world.settle();
    CHECK(world.member->counters().folded.get() == world.log.size());
    CHECK(world.sides.empty());
    CHECK(world.table.rows().size() == 72);
    for (EpochMs hour = first.ms; hour < first.ms + 3 * kDayMs; hour += kHourMs)
      CHECK(world.cell("d1", {hour}) == Rollup{1, 1, 60, 60});
  }
}

TEST_CASE("case 4: a reading twenty days late costs one Put, and no memory that stays") {
  FieldWorld world;
  world.settings.retention_ms = 2 * kHourMs;
  world.start();
  std::vector<std::uint64_t> windows;
  std::vector<std::uint64_t> bytes;
  for (int hour = 0; hour < 100; ++hour) {
    const HourStart late = HourStart::of(world.now - 20 * kDayMs);
    world.append(field_reading(world.now, kOne));
    world.append(field_reading(late.ms + 7, kOne, "late"));
    world.settle();
    CHECK(world.puts_of("late", late) == 1);
    world.now += kHourMs;
    world.append(field_reading(world.now, kOne));
    world.settle();
    REQUIRE(world.member->worker->checkpoint(world.now));
    windows.push_back(world.member->counters().windows_in_memory.get());
    bytes.push_back(world.member->counters().window_bytes.get());
  }
  CHECK(windows.back() == windows[5]);
  CHECK(bytes.back() == bytes[5]);
}

TEST_CASE("case 4: 10,000 late readings of one hour between two rounds go in one Put") {
  for (const Meanwhile between : {Meanwhile::kNothing, Meanwhile::kExpiry}) {
    FieldWorld world;
    world.start();
    append_ones(world, 10);
    world.settle();
    world.pass(between);
    const std::size_t before = world.puts_of("d1", kFieldHour);
    for (int i = 0; i < 10'000; ++i) world.append(field_reading(kFieldHour.ms + 100'000 + i, kOne));
    world.settle();
    CHECK(world.cell()->count == 10'010);
    CHECK(world.puts_of("d1", kFieldHour) == before + 1);
  }
}

TEST_CASE("case 5: an hour of 60 that left the local state goes on at 61") {
  for (const Meanwhile then : kAllMeanwhiles) {
    CAPTURE(static_cast<int>(then));
    FieldWorld world;
    world.start();
    for (int i = 0; i < 60; ++i) world.append(field_reading(kFieldHour.ms + i * kMinuteMs / 2, kOne));
    world.settle();
    world.pass(Meanwhile::kExpiry);
    world.pass(then);
    world.append(field_reading(kFieldHour.ms + 59 * kMinuteMs, kOne));
    world.settle();
    CHECK(world.cell() == Rollup{1, 1, 61, 61});
    CHECK(world.member->counters().look_ups.get() == 1);
    CHECK(world.puts_of("d1", kFieldHour) == 2);
  }
}

TEST_CASE("case 6: an hour during which the worker was down is whole, under the hour's own key") {
  for (const Meanwhile down :
       {Meanwhile::kRestart, Meanwhile::kCrash, Meanwhile::kLostDisk, Meanwhile::kOtherHost}) {
    for (const bool emitted : {false, true}) {
      CAPTURE(static_cast<int>(down));
      CAPTURE(emitted);
      FieldWorld world;
      world.now = kFieldHour.ms;
      world.start();
      for (int minute = 0; minute < 84; ++minute, world.now += kMinuteMs) {
        world.append(field_reading(world.now, kOne));
        if (minute < 40) world.read(*world.member);
        if (minute == 30 && emitted) world.settle();
        // Records go on arriving for 44 minutes before somebody reads again.
        if (minute == 40 && down == Meanwhile::kOtherHost) world.stop();
        if (minute == 40 && down == Meanwhile::kRestart) world.stop();
        if (minute == 40 && world.member) world.crash();
      }
      if (down == Meanwhile::kLostDisk) world.disks[0] = std::make_unique<MemoryStores>();
      world.start(down == Meanwhile::kOtherHost ? 1 : 0);
      world.settle();
      CHECK(world.table.rows().size() == 2);
      CHECK(world.cell("d1", kFieldHour) == Rollup{1, 1, 60, 60});
      CHECK(world.cell("d1", {kFieldHour.end_ms()}) == Rollup{1, 1, 24, 24});
    }
  }
}

TEST_CASE("case 7: one reading, then silence: its cell appears, also when the process is killed on the way") {
  enum class Killed { kNever, kAfterReading, kAfterCheckpoint, kAfterSending, kAfterLanding };
  for (const Killed killed : {Killed::kNever, Killed::kAfterReading, Killed::kAfterCheckpoint,
                              Killed::kAfterSending, Killed::kAfterLanding}) {
    for (const std::size_t survivors : {0U, 1U, 9U}) {
      for (const bool closed : {false, true}) {  // the hour, by the wall clock
        CAPTURE(static_cast<int>(killed));
        CAPTURE(survivors);
        FieldWorld world;
        if (closed) world.now += kHourMs;
        world.start();
        world.append(field_reading(kFieldHour.ms, R"("a":7)"));
        world.read(*world.member);
        if (killed >= Killed::kAfterCheckpoint) REQUIRE(world.member->worker->checkpoint(world.now));
        if (killed >= Killed::kAfterSending) {
          world.step(*world.member, kMinuteMs);
          REQUIRE(world.member->sink.puts.size() == 1);
        }
        if (killed == Killed::kAfterLanding) world.apply(world.member->sink.puts[0].rows);
        if (killed != Killed::kNever) {
          world.crash(survivors);
          world.start();
          world.read(*world.member);
        }
        const EpochMs began = world.now;
        const EpochMs due = closed ? world.settings.emit.late_delay_ms : world.settings.emit.refresh_ms;
        while (world.now <= began + due + 1'000) {
          world.step(*world.member, 1'000);
          world.land(*world.member);
        }
        CHECK(world.cell() == Rollup{7, 7, 7, 1});
        world.settle();
        CHECK(world.cell() == Rollup{7, 7, 7, 1});
      }
    }
  }
}
