// JSON numbers (RFC 8259, section 6) from their text: the grammar, the nearest double, the exact epoch
// millisecond.
//
// Each function takes a whole token and refuses anything before, behind or between, such as `.5`, `007`,
// `1.`, `+1`, `0x1F`. Threads: free functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/reading.h"

namespace hourfold {

enum class NumberKind {
  kBroken,      // not the grammar of a number
  kFinite,      // the nearest double, 0 or a subnormal when the number is tiny
  kOutOfRange,  // sound, but beyond the largest double
};

struct ParsedDouble {
  NumberKind kind;
  double value;  // only if kFinite; -0.0 keeps its sign
};

bool is_json_number(std::string_view token);

// A sound number without fraction and exponent, of any length.
bool is_json_integer(std::string_view token);

ParsedDouble parse_json_double(std::string_view token);

// A number of at most 19 characters and no exponent, at the front of a text: its end, and the nearest double.
// Null if there is none or it is longer; what follows is not looked at.
const char* scan_short_number(const char* begin, const char* end, double& value);

struct ParsedTime {
  Malformed reason;  // kNone, kBadJson (not a number) or kBadTime (outside 1970 to 9999)
  EpochMs ms;        // only if kNone
};

// Floors to a millisecond from the decimal digits, never through a double: 1767225600123.9
// and 1.7672256001239e12 are both 1767225600123.
ParsedTime parse_epoch_ms(std::string_view token);

// The same of a number whose unit is 10^shift milliseconds.
ParsedTime parse_scaled_ms(std::string_view token, int shift);

// Digits in front of the point when the number is written without exponent and leading zeros, not positive
// below 1. Empty for zero and for what is no number.
std::optional<std::int64_t> whole_digit_count(std::string_view token);

// The number floored to a multiple of 10^-digits, as its whole part and that many digits behind the point (up
// to 18), which are never negative: -0.25 is -1 and 750 of 1000. Empty for what is no number and from 10^15
// on.
struct FlooredDecimal {
  std::int64_t whole;
  std::int64_t fraction;
};
std::optional<FlooredDecimal> parse_decimal_floor(std::string_view token, int digits);

}  // namespace hourfold
