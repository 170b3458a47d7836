// Cases met in the field: wrong clocks, the edges of hours, partitions without good readings.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <time.h>

#include <optional>
#include <string>
#include <vector>

#include "support/field_world.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

const std::string kOne = R"("a":1)";

class TimeZone {
 public:
  explicit TimeZone(const char* zone) {
    if (const char* was = ::getenv("TZ")) was_ = was;
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  ~TimeZone() {
    if (was_) {
      ::setenv("TZ", was_->c_str(), 1);
    } else {
      ::unsetenv("TZ");
    }
    ::tzset();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;

 private:
  std::optional<std::string> was_;
};

}  // namespace

TEST_CASE("case 8: a device whose clock is wrong costs itself its reading, and nobody else theirs") {
  // Ahead by a day or by decades, or behind by more than the log may hold; first, last and among the others.
  for (const EpochMs off : {kDayMs, 20 * 365 * kDayMs, -30 * kDayMs, -40 * 365 * kDayMs}) {
    for (const int place : {0, 5, 10}) {
      CAPTURE(off);
      CAPTURE(place);
      FieldWorld world;
      world.start();
      for (int i = 0; i < 11; ++i) {
        world.now += 1'000;
        world.append(i == place ? field_reading(world.now + off, kOne, "d1")
                                : field_reading(world.now, kOne, "d2"));
      }
      world.settle();
      CHECK(world.cell("d2") == Rollup{1, 1, 10, 10});
      CHECK(world.table.rows().size() == 1);
      const WorkerCounters& counters = world.member->counters();
      CHECK(counters.quarantined.get() == (off > 0 ? 1 : 0));
      CHECK(counters.archived.get() == (off > 0 ? 0 : 1));
      CHECK(counters.folded.get() == 10);
      REQUIRE(world.sides.size() == 1);
      CHECK(world.sides.begin()->first == Position{{place}, 0});
      CHECK(world.sides.begin()->second ==
            std::set<std::string>{off > 0 ? "quarantine future" : "archive too_old"});
    }
  }
}

TEST_CASE("case 9: both bounds of arrival are inclusive to the millisecond, and no clock decides") {
  struct Edge {
    EpochMs event_minus_arrival;
    const char* side;
  };
  const Edge edges[] = {
      {5 * kMinuteMs - 1, ""},
      {5 * kMinuteMs, ""},
      {5 * kMinuteMs + 1, "quarantine future"},
      {-29 * kDayMs + 1, ""},
      {-29 * kDayMs, ""},
      {-29 * kDayMs - 1, "archive too_old"},
      {0, ""},
  };
  for (const Edge& edge : edges) {
    // A reader that is on time, one a year later, one whose own clock stands in the past.
    for (const EpochMs clock : {EpochMs{0}, 365 * kDayMs, -365 * kDayMs}) {
      CAPTURE(edge.event_minus_arrival);
      CAPTURE(clock);
      FieldWorld world;
      const EpochMs arrival = world.now;
      const EpochMs event = arrival + edge.event_minus_arrival;
      world.append_at(arrival, field_reading(event, kOne));
      world.now += clock;
      world.start();
      world.settle();
      const bool folds = *edge.side == 0;
      CHECK(world.cell("d1", HourStart::of(event)).has_value() == folds);
      CHECK(world.table.rows().size() == (folds ? 1 : 0));
      CHECK(world.sides.size() == (folds ? 0 : 1));
      if (!folds) CHECK(world.sides[{{0}, 0}].contains(edge.side));
    }
  }
}

TEST_CASE("case 10: an hour ends with its last millisecond, in UTC, wherever the process runs") {
  // Zones with halves and quarters of an hour, and one with summer time, in the notation that needs no files.
  for (const char* zone : {"UTC0", "IST-5:30", "<+1245>-12:45", "NST3:30NDT,M3.2.0,M11.1.0", "CET-1CEST"}) {
    CAPTURE(zone);
    const TimeZone here(zone);
    FieldWorld world;
    world.now = kFieldHour.end_ms() + kMinuteMs;
    world.start();
    const EpochMs last = kFieldHour.end_ms() - 1;
    for (const EpochMs event : {kFieldHour.ms - 1, kFieldHour.ms, last, last + 1})
      world.append(field_reading(event, kOne));
    world.settle();
    CHECK(world.cell("d1", {kFieldHour.ms - kHourMs})->count == 1);
    CHECK(world.cell("d1", kFieldHour)->count == 2);
    CHECK(world.cell("d1", {kFieldHour.end_ms()})->count == 1);
    CHECK(world.table.rows().size() == 3);
    CHECK(world.table.rows().contains(row_key("d1", {1'767'261'600'000}, world.settings.buckets)));
  }
}

TEST_CASE("case 11: cells of a partition wait for no other partition") {
  // Nothing is shared but the clock: three partitions that are read and one that is for ever empty.
  std::vector<FieldWorld> worlds(4);
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    worlds[i].start();
    if (i < 3) worlds[i].append(field_reading(kFieldHour.ms, kOne));
  }
  for (FieldWorld& world : worlds) {
    world.read(*world.member);
    for (EpochMs waited = 0; waited <= world.settings.emit.refresh_ms; waited += 1'000) {
      world.step(*world.member, 1'000);
      world.land(*world.member);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) CHECK(worlds[i].cell() == Rollup{1, 1, 1, 1});
  CHECK(worlds[3].table.empty());
  CHECK(worlds[3].member->worker->drained());
}

TEST_CASE("case 12: a partition with nothing but bad records commits to its end") {
  FieldWorld first;
  const EpochMs at = first.now;
  const std::vector<std::optional<std::string>> bad{
      "{",                                                                // broken
      "",                                                                 // empty
      std::nullopt,                                                       // tombstone
      "\xff\xfe",                                                         // no UTF-8
      field_reading(at + kDayMs, kOne),                                   // from the future
      field_reading(at - 30 * kDayMs, kOne),                              // too old
      field_reading(at, R"("a":NaN)"),                                    // nothing usable
      "[" + field_reading(at + kDayMs, kOne) + R"(,7,{"device":"d1"}])",  // several, none of them good
  };
  // Each kind for itself, and all together.
  for (std::size_t kind = 0; kind <= bad.size(); ++kind) {
    CAPTURE(kind);
    FieldWorld world;
    world.start();
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < bad.size(); ++i) {
        if (kind == i || kind == bad.size()) world.append(bad[i]);
      }
    }
    world.read(*world.member);
    world.step(*world.member);
    const bool tombstones = kind < bad.size() && !bad[kind];
    // Not before the side topics have them.
    CHECK((world.member->worker->needed_from() == Offset{0}) == !tombstones);
    world.settle();
    CHECK(world.committed->next.value == static_cast<std::int64_t>(world.log.size()));
    CHECK(world.member->worker->next_offset() == world.committed->next);
    CHECK(world.table.empty());
    CHECK(world.member->counters().folded.get() == 0);
  }
}
