#include "app/query_range.h"

#include <doctest/doctest.h>

#include <limits>

namespace hourfold {
namespace {

constexpr EpochMs kDayMs = 24 * kHourMs;
constexpr EpochMs kNewYear = 1767225600000;  // 2026-01-01T00:00:00Z
constexpr EpochMs kNow = kNewYear + 10 * kDayMs + 90 * 60'000;

TEST_CASE("query: hours, days and months begin where UTC says") {
  CHECK(step_start(kNow, Step::kHour) == kNewYear + 10 * kDayMs + kHourMs);
  CHECK(step_start(kNow, Step::kDay) == kNewYear + 10 * kDayMs);
  CHECK(step_start(kNow, Step::kMonth) == kNewYear);
  CHECK(step_start(kNewYear, Step::kMonth) == kNewYear);
  CHECK(step_start(kNewYear - 1, Step::kMonth) == kNewYear - 31 * kDayMs);
  CHECK(next_step(kNewYear, Step::kMonth) == kNewYear + 31 * kDayMs);
  CHECK(next_step(kNewYear + 31 * kDayMs, Step::kMonth) == kNewYear + 59 * kDayMs);  // February
  CHECK(next_step(kNewYear, Step::kDay) == kNewYear + kDayMs);
}

TEST_CASE("query: times as users write them") {
  struct Case {
    const char* text;
    EpochMs begin, end;
  };
  for (const Case& c :
       {Case{"2026-01-01", kNewYear, kNewYear + kDayMs}, Case{"2026-01", kNewYear, kNewYear + 31 * kDayMs},
        Case{"2026-01-01T00:00Z", kNewYear, kNewYear}, Case{"2026-01-01 00:00", kNewYear, kNewYear},
        Case{"2026-01-01T01:00:00+01:00", kNewYear, kNewYear},
        Case{"2025-12-31T19:00:00.5-0500", kNewYear + 500, kNewYear + 500},
        Case{"2026-01-01T00:00:00.1239z", kNewYear + 123, kNewYear + 123},
        Case{"1767225600000", kNewYear, kNewYear}, Case{"0", 0, 0}, Case{"now", kNow, kNow},
        Case{"-24h", kNow - kDayMs, kNow - kDayMs}, Case{"-7d", kNow - 7 * kDayMs, kNow - 7 * kDayMs},
        Case{"2024-02-29", 1709164800000, 1709251200000}}) {
    CAPTURE(c.text);
    const auto time = parse_named_time(c.text, kNow);
    REQUIRE(time);
    CHECK(time->begin == c.begin);
    CHECK(time->end == c.end);
  }
}

TEST_CASE("query: anything else is no time") {
  for (const char* text : {"",
                           "yesterday",
                           "2026",
                           "2026-13",
                           "2026-00-01",
                           "2026-02-29",
                           "2026-1-1",
                           "2026-01-01T",
                           "2026-01-01T24:00",
                           "2026-01-01T00:60",
                           "2026-01-01T00:00:61",
                           "2026-01-01T00:00+1",
                           "2026-01-01T00:00+24:00",
                           "2026-01-01T00:00Zx",
                           "2026-01-01x",
                           "-",
                           "-soon",
                           "24h",
                           "1767225600",
                           "99999999999999999999",
                           "-1767225600000",
                           "now-1h"}) {
    CAPTURE(text);
    const auto time = parse_named_time(text, kNow);
    if (std::string_view(text) == "2026") {
      CHECK(time);  // epoch milliseconds, early in 1970
    } else {
      CHECK_FALSE(time);
    }
  }
}

TEST_CASE("query: a range is widened to whole steps, a date at the end counts whole") {
  struct Case {
    const char *from, *to;
    Step step;
    EpochMs begin, end;
  };
  constexpr EpochMs kLowest = std::numeric_limits<EpochMs>::min();
  constexpr EpochMs kHighest = std::numeric_limits<EpochMs>::max();
  for (const Case& c :
       {Case{"", "", Step::kHour, kLowest, kHighest}, Case{"all", "all", Step::kDay, kLowest, kHighest},
        Case{"2026-01-01", "2026-01-01", Step::kHour, kNewYear, kNewYear + kDayMs},
        Case{"2026-01-01", "2026-01-02", Step::kDay, kNewYear, kNewYear + 2 * kDayMs},
        Case{"2026-01-01T00:30Z", "2026-01-01T02:00Z", Step::kHour, kNewYear, kNewYear + 2 * kHourMs},
        Case{"2026-01-01T00:30Z", "2026-01-01T02:01Z", Step::kHour, kNewYear, kNewYear + 3 * kHourMs},
        Case{"2026-01-15", "2026-01-16", Step::kMonth, kNewYear, kNewYear + 31 * kDayMs},
        Case{"-24h", "now", Step::kDay, kNewYear + 9 * kDayMs, kNewYear + 11 * kDayMs}}) {
    CAPTURE(c.from);
    CAPTURE(c.to);
    const auto range = parse_range(c.from, c.to, c.step, kNow);
    REQUIRE(range);
    CHECK(range->from.ms == c.begin);
    CHECK(range->to.ms == c.end);
  }
  CHECK_FALSE(parse_range("2026-01-02", "2026-01-01", Step::kHour, kNow));
  CHECK_FALSE(parse_range("now", "-3h", Step::kHour, kNow));
}

}  // namespace
}  // namespace hourfold
