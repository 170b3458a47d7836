// Points in time as payloads write them, floored to epoch milliseconds from their decimal text, never through
// a double.
//
// Threads: free functions without state; a TimeFormat is a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/reading_shape.h"
#include "payload/json_number.h"
#include "payload/payload_parser.h"

namespace hourfold {

// A number token of a unit, kAuto by its magnitude: below 1e11 seconds, below 1e14 milliseconds, below 1e17
// microseconds, else nanoseconds. kBadJson if it is no number, kBadTime outside 1970 to 9999 and for
// kRfc3339.
ParsedTime parse_epoch(std::string_view token, TimeUnit unit);

// RFC 3339 with 0 to 9 digits of a second; a space or a small t for the T; 24:00:00 is the next day's
// beginning; a leap second (:60) is the second that follows, as in POSIX. Offsets +hh:mm, also +hhmm and +hh;
// without any, that of the caller, or it is broken. kNone or kBadTime.
ParsedTime parse_rfc3339(std::string_view text, std::optional<int> zone_minutes);

// How one field is written.
class TimeFormat {
 public:
  TimeFormat(TimeUnit unit, bool strings, std::optional<int> zone_minutes)
      : unit_(unit), strings_(strings), zone_minutes_(zone_minutes) {}

  // kBadJson if the token is no number.
  TimeField number(std::string_view token) const {
    const ParsedTime time = parse_epoch(token, unit_);
    return {time.reason, time.ms};
  }
  // The same of a token that is known to be a whole number of this value.
  TimeField whole(std::uint64_t value, std::string_view token) const {
    if (unit_ != TimeUnit::kMs) return number(token);
    if (value > static_cast<std::uint64_t>(kMaxEventMs)) return {Malformed::kBadTime, 0};
    return {Malformed::kNone, static_cast<EpochMs>(value)};
  }
  TimeField text(std::string_view text) const;

 private:
  TimeUnit unit_;
  bool strings_;
  std::optional<int> zone_minutes_;
};

// Decimal seconds, floored to a nanosecond: exact sums of what SenML adds up.
struct Seconds {
  std::int64_t whole = 0;
  std::int64_t nanos = 0;  // 0 to 999,999,999
  friend Seconds operator+(Seconds a, Seconds b);
  // Towards the past; only within 1970 to 9999.
  EpochMs ms() const { return whole * 1000 + nanos / 1'000'000; }
};
// Empty if it is no number or 1e15 seconds or more from zero.
std::optional<Seconds> parse_seconds(std::string_view token);

}  // namespace hourfold
