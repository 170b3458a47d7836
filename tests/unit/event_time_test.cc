// Times in every way that payloads write them, floored to milliseconds from their decimal text.
#include "payload/event_time.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <optional>
#include <string>

namespace hourfold {
namespace {

constexpr EpochMs kBad = -1;

EpochMs ms_of(const ParsedTime& time) { return time.reason == Malformed::kNone ? time.ms : kBad; }

TEST_CASE("RFC 3339") {
  struct Case {
    const char* text;
    EpochMs ms;
  };
  const Case cases[] = {
      {"2026-01-01T00:00:00Z", 1'767'225'600'000},
      {"2026-01-01T00:00:00.385Z", 1'767'225'600'385},
      {"2026-01-01T00:00:00.3859999Z", 1'767'225'600'385},
      {"2026-01-01T00:00:00.969752713+00:00", 1'767'225'600'969},
      {"2026-01-01T00:00:00.1Z", 1'767'225'600'100},
      {"2026-01-01t00:00:00z", 1'767'225'600'000},
      {"2026-01-01 00:00:00Z", 1'767'225'600'000},
      {"2026-01-01T05:30:00.385+05:30", 1'767'225'600'385},
      {"2025-12-31T20:00:00-04:00", 1'767'225'600'000},
      {"2026-01-01T05:30:00+0530", 1'767'225'600'000},
      {"2026-01-01T01:00:00+01", 1'767'225'600'000},
      {"2026-01-01T00:00:00,5Z", 1'767'225'600'500},
      {"2025-12-31T24:00:00Z", 1'767'225'600'000},
      {"2025-12-31T24:00:00.000Z", 1'767'225'600'000},
      {"2016-12-31T23:59:60Z", 1'483'228'800'000},
      {"2016-12-31T23:59:60.5Z", 1'483'228'800'500},
      {"2017-01-01T01:59:60+02:00", 1'483'228'800'000},
      {"2024-02-29T00:00:00Z", 1'709'164'800'000},
      {"2000-02-29T12:00:00Z", 951'825'600'000},
      {"1970-01-01T00:00:00Z", 0},
      {"9999-12-31T23:59:59.999Z", kMaxEventMs},
      // no zone
      {"2026-01-01T00:00:00", kBad},
      {"2026-01-01 00:00:00", kBad},
      // out of range
      {"1969-12-31T23:59:59.999Z", kBad},
      {"9999-12-31T24:00:00Z", kBad},
      {"2026-02-29T00:00:00Z", kBad},
      {"1900-02-29T00:00:00Z", kBad},
      {"2026-04-31T00:00:00Z", kBad},
      {"2026-13-01T00:00:00Z", kBad},
      {"2026-00-01T00:00:00Z", kBad},
      {"2026-01-00T00:00:00Z", kBad},
      {"2026-01-01T24:00:01Z", kBad},
      {"2026-01-01T24:00:00.001Z", kBad},
      {"2026-01-01T25:00:00Z", kBad},
      {"2026-01-01T00:60:00Z", kBad},
      {"2026-01-01T00:00:61Z", kBad},
      {"2026-01-01T12:00:60Z", kBad},
      {"2026-01-01T00:00:00+24:00", kBad},
      {"2026-01-01T00:00:00+05:60", kBad},
      // grammar
      {"", kBad},
      {"2026", kBad},
      {"2026-01-01", kBad},
      {"2026-01-01T00:00Z", kBad},
      {"2026-1-1T00:00:00Z", kBad},
      {"2026-01-01T00:00:00.Z", kBad},
      {"2026-01-01T00:00:00.1234567890Z", kBad},
      {"2026-01-01T00:00:00ZZ", kBad},
      {"2026-01-01T00:00:00Z ", kBad},
      {" 2026-01-01T00:00:00Z", kBad},
      {"2026-01-01T00:00:00+", kBad},
      {"2026-01-01T00:00:00+1", kBad},
      {"2026-01-01T00:00:00+01:", kBad},
      {"2026-01-01T00:00:00+01:0", kBad},
      {"+026-01-01T00:00:00Z", kBad},
      {"2026/01/01T00:00:00Z", kBad},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(ms_of(parse_rfc3339(c.text, std::nullopt)) == c.ms);
  }
  CHECK(ms_of(parse_rfc3339("2026-01-01 05:30:00", 330)) == 1'767'225'600'000);
  CHECK(ms_of(parse_rfc3339("2026-01-01 00:00:00Z", 330)) == 1'767'225'600'000);
}

TEST_CASE("every day from 1970 to 9999 is the one after the day before") {
  EpochMs expected = 0;
  for (int year = 1970; year < 10'000; ++year) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= 31; ++day) {
        char text[40];
        std::snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00Z", year, month, day);
        const EpochMs ms = ms_of(parse_rfc3339(text, std::nullopt));
        if (ms == kBad) {
          REQUIRE(day > 28);
          continue;
        }
        REQUIRE(ms == expected);
        expected += 86'400'000;
      }
    }
  }
  CHECK(expected == kMaxEventMs + 1);
}

TEST_CASE("numbers of every unit") {
  struct Case {
    const char* text;
    TimeUnit unit;
    EpochMs ms;
  };
  const Case cases[] = {
      {"1767225600", TimeUnit::kSeconds, 1'767'225'600'000},
      {"1767225600.385", TimeUnit::kSeconds, 1'767'225'600'385},
      {"1767225600.3859999999999999999999", TimeUnit::kSeconds, 1'767'225'600'385},
      {"1.767225600385E9", TimeUnit::kSeconds, 1'767'225'600'385},
      {"0.0009", TimeUnit::kSeconds, 0},
      {"253402300799.999", TimeUnit::kSeconds, kMaxEventMs},
      {"253402300800", TimeUnit::kSeconds, kBad},
      {"1767225600385000", TimeUnit::kUs, 1'767'225'600'385},
      {"1767225600385999", TimeUnit::kUs, 1'767'225'600'385},
      {"999", TimeUnit::kUs, 0},
      {"1767225600385999999", TimeUnit::kNs, 1'767'225'600'385},
      {"1.767225600385999999e18", TimeUnit::kNs, 1'767'225'600'385},
      {"99999999999", TimeUnit::kAuto, 99'999'999'999'000},
      {"100000000000", TimeUnit::kAuto, 100'000'000'000},
      {"1767225600", TimeUnit::kAuto, 1'767'225'600'000},
      {"1767225600.385", TimeUnit::kAuto, 1'767'225'600'385},
      {"1767225600385", TimeUnit::kAuto, 1'767'225'600'385},
      {"1767225600385000", TimeUnit::kAuto, 1'767'225'600'385},
      {"1767225600385000000", TimeUnit::kAuto, 1'767'225'600'385},
      {"0", TimeUnit::kAuto, 0},
      {"-1", TimeUnit::kSeconds, kBad},
      {"-0.0001", TimeUnit::kSeconds, kBad},
      {"-0", TimeUnit::kSeconds, 0},
      {"1e99999999999999999999", TimeUnit::kNs, kBad},
      {"1e-99999999999999999999", TimeUnit::kSeconds, 0},
      {"1767225600", TimeUnit::kRfc3339, kBad},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(ms_of(parse_epoch(c.text, c.unit)) == c.ms);
  }
  CHECK(parse_epoch("007", TimeUnit::kSeconds).reason == Malformed::kBadJson);
  CHECK(parse_epoch("x", TimeUnit::kRfc3339).reason == Malformed::kBadJson);
}

TEST_CASE("texts are taken only where they are expected") {
  const auto text = [](TimeUnit unit, bool strings, const char* value) {
    const TimeField field = TimeFormat(unit, strings, std::nullopt).text(value);
    return field.reason == Malformed::kNone ? field.ms : kBad;
  };
  CHECK(text(TimeUnit::kMs, false, "1767225600385") == kBad);
  CHECK(text(TimeUnit::kMs, true, "1767225600385") == 1'767'225'600'385);
  CHECK(text(TimeUnit::kSeconds, true, "1.767225600385E9") == 1'767'225'600'385);
  CHECK(text(TimeUnit::kSeconds, true, "2026-01-01T00:00:00Z") == kBad);
  CHECK(text(TimeUnit::kSeconds, true, "07") == kBad);
  CHECK(text(TimeUnit::kRfc3339, true, "1767225600") == kBad);
  CHECK(text(TimeUnit::kAuto, false, "1767225600") == 1'767'225'600'000);
  CHECK(text(TimeUnit::kAuto, false, "2026-01-01T00:00:00Z") == 1'767'225'600'000);
}

TEST_CASE("decimal seconds are floored to nanoseconds, on both sides of zero") {
  const auto check = [](const char* text, std::int64_t whole, std::int64_t nanos) {
    CAPTURE(std::string(text));
    const auto seconds = parse_seconds(text);
    REQUIRE(seconds.has_value());
    CHECK(seconds->whole == whole);
    CHECK(seconds->nanos == nanos);
  };
  check("0", 0, 0);
  check("-0.0", 0, 0);
  check("1.276020076001e+09", 1'276'020'076, 1'000'000);
  check("-5", -5, 0);
  check("-0.25", -1, 750'000'000);
  check("-1e-9", -1, 999'999'999);
  check("-1e-10", -1, 999'999'999);
  check("-1.0000000001", -2, 999'999'999);
  check("-0.9999999999", -1, 0);
  check("1e-10", 0, 0);
  check("0.1234567899", 0, 123'456'789);
  CHECK(!parse_seconds("1e15"));
  CHECK(parse_seconds("999999999999999")->whole == 999'999'999'999'999);
  CHECK(!parse_seconds("x"));
  const Seconds sum = *parse_seconds("1276020076.75") + *parse_seconds("-0.25");
  CHECK(sum.ms() == 1'276'020'076'500);
}

}  // namespace
}  // namespace hourfold
