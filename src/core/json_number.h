// JSON numbers (RFC 8259, section 6) from their text: the grammar, the nearest double, the exact epoch
// millisecond.
//
// Each function takes a whole token and refuses anything before, behind or between, such as `.5`, `007`,
// `1.`, `+1`, `0x1F`. Threads: free functions without state.
#pragma once

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

struct ParsedTime {
  Malformed reason;  // kNone, kBadJson (not a number) or kBadTime (outside 1970 to 9999)
  EpochMs ms;        // only if kNone
};

// Floors to a millisecond from the decimal digits, never through a double: 1767225600123.9
// and 1.7672256001239e12 are both 1767225600123.
ParsedTime parse_epoch_ms(std::string_view token);

}  // namespace hourfold
