#include "payload/json_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>

namespace hourfold {
namespace {

// value = (-1)^negative * mantissa * 10^exponent, as long as there are at most kExactDigits digits.
struct Scan {
  bool sound = false;
  bool negative = false;
  bool integer = true;          // neither fraction nor exponent
  std::uint64_t mantissa = 0;   // of all digits, modulo 2^64
  std::int64_t exponent = 0;    // of the last digit
  std::size_t digit_count = 0;  // leading zeros included
};

constexpr std::size_t kExactDigits = 19;  // 10^19 < 2^64

// An exponent beyond this is as good as infinite, whatever digits a record can hold in front of it.
constexpr std::int64_t kExponentLimit = 1'000'000'000'000;

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

[[gnu::always_inline]] inline const char* scan_digits(const char* p, const char* end,
                                                      std::uint64_t& mantissa) {
  for (; p != end; ++p) {
    const unsigned digit = static_cast<unsigned>(static_cast<unsigned char>(*p)) - '0';
    if (digit > 9) break;
    mantissa = mantissa * 10 + digit;
  }
  return p;
}

// Returns behind the exponent, or null if it has no digit.
const char* scan_exponent(const char* p, const char* end, std::int64_t& exponent) {
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  if (p == end || !is_digit(*p)) return nullptr;
  std::int64_t magnitude = 0;
  for (; p != end && is_digit(*p); ++p) {
    if (magnitude < kExponentLimit) magnitude = magnitude * 10 + (*p - '0');
  }
  exponent += negative ? -magnitude : magnitude;
  return p;
}

[[gnu::always_inline]] inline Scan scan_number(std::string_view token) {
  Scan scan;
  const char* p = token.data();
  const char* const end = p + token.size();
  if (p != end && *p == '-') {
    scan.negative = true;
    ++p;
  }
  const char* const first = p;
  p = scan_digits(p, end, scan.mantissa);
  if (p == first || (*first == '0' && p - first > 1)) return scan;
  scan.digit_count = static_cast<std::size_t>(p - first);
  if (p != end && *p == '.') {
    scan.integer = false;
    const char* const fraction = ++p;
    p = scan_digits(p, end, scan.mantissa);
    if (p == fraction) return scan;
    scan.exponent = fraction - p;
    scan.digit_count += static_cast<std::size_t>(p - fraction);
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    scan.integer = false;
    p = scan_exponent(p + 1, end, scan.exponent);
  }
  scan.sound = p == end;
  return scan;
}

constexpr int kMaxExactPower = 22;  // the largest power of ten that is a double exactly
constexpr std::array<double, kMaxExactPower + 1> kPowersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

constexpr std::uint64_t kMaxExactInteger = std::uint64_t{1} << 53;

// One rounding of two exact operands is the nearest double (Clinger 1990).
bool has_exact_operands(const Scan& scan) {
  return scan.digit_count <= kExactDigits && scan.mantissa <= kMaxExactInteger &&
         scan.exponent >= -kMaxExactPower && scan.exponent <= kMaxExactPower;
}

double from_exact_operands(const Scan& scan) {
  const double digits = static_cast<double>(scan.mantissa);
  const double magnitude = scan.exponent < 0 ? digits / kPowersOfTen[static_cast<std::size_t>(-scan.exponent)]
                                             : digits * kPowersOfTen[static_cast<std::size_t>(scan.exponent)];
  return scan.negative ? -magnitude : magnitude;
}

// What nearly all readings are: a few digits with a point or without. Null leaves the number to
// scan_number(), else it is the end of the number; what stands there is the caller's to judge.
[[gnu::always_inline]] inline const char* scan_short(const char* p, const char* end, double& value) {
  const char* const begin = p;
  const bool negative = p != end && *p == '-';
  p += negative;
  const char* const whole = p;
  std::uint64_t mantissa = 0;
  p = scan_digits(p, end, mantissa);
  if (p == whole || (*whole == '0' && p - whole > 1)) return nullptr;
  std::size_t fraction_digits = 0;
  if (p != end && *p == '.') {
    const char* const fraction = p + 1;
    p = scan_digits(fraction, end, mantissa);
    if (p == fraction) return nullptr;
    fraction_digits = static_cast<std::size_t>(p - fraction);
  }
  // Up to here the mantissa may have run over; this many digits cannot.
  if (static_cast<std::size_t>(p - begin) > kExactDigits || mantissa > kMaxExactInteger) return nullptr;
  // A division by 1 would give the same.
  double magnitude = static_cast<double>(static_cast<std::int64_t>(mantissa));
  if (fraction_digits != 0) magnitude /= kPowersOfTen[fraction_digits];
  value = negative ? -magnitude : magnitude;
  return p;
}

// The digits of a sound number, the point taken out.
class Digits {
 public:
  explicit Digits(std::string_view token) {
    if (token.front() == '-') token.remove_prefix(1);
    token = token.substr(0, token.find_first_of("eE"));
    const std::size_t point = token.find('.');
    whole_ = token.substr(0, point);
    if (point != std::string_view::npos) fraction_ = token.substr(point + 1);
  }
  std::size_t size() const { return whole_.size() + fraction_.size(); }
  char operator[](std::size_t i) const {
    return i < whole_.size() ? whole_[i] : fraction_[i - whole_.size()];
  }
  // size() if all are zero.
  std::size_t first_significant() const {
    std::size_t i = 0;
    while (i < size() && (*this)[i] == '0') ++i;
    return i;
  }

 private:
  std::string_view whole_;
  std::string_view fraction_;
};

// How many digits stand before the point when the number is written without exponent and leading zeros; not
// positive below 1.
std::int64_t whole_digits(const Digits& digits, std::size_t first, const Scan& scan) {
  return static_cast<std::int64_t>(digits.size() - first) + scan.exponent;
}

ParsedDouble parse_slow(std::string_view token, const Scan& scan) {
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error == std::errc{}) {
    return std::isfinite(value) ? ParsedDouble{NumberKind::kFinite, value}
                                : ParsedDouble{NumberKind::kOutOfRange, 0};
  }
  // from_chars says "out of range" for tiny numbers, too; those round to zero.
  const Digits digits(token);
  const std::size_t first = digits.first_significant();
  if (first < digits.size() && whole_digits(digits, first, scan) > 0) return {NumberKind::kOutOfRange, 0};
  return {NumberKind::kFinite, scan.negative ? -0.0 : 0.0};
}

ParsedTime floor_decimal(std::string_view token, const Scan& scan, int shift) {
  const Digits digits(token);
  const std::size_t first = digits.first_significant();
  if (first == digits.size()) return {Malformed::kNone, 0};
  const std::int64_t whole = whole_digits(digits, first, scan) + shift;
  if (scan.negative || whole > std::numeric_limits<EpochMs>::digits10) return {Malformed::kBadTime, 0};
  EpochMs ms = 0;
  for (std::int64_t i = 0; i < whole; ++i) {
    const std::size_t at = first + static_cast<std::size_t>(i);
    ms = ms * 10 + (at < digits.size() ? digits[at] - '0' : 0);
  }
  if (ms > kMaxEventMs) return {Malformed::kBadTime, 0};
  return {Malformed::kNone, ms};
}

}  // namespace

bool is_json_number(std::string_view token) { return scan_number(token).sound; }

bool is_json_integer(std::string_view token) {
  const Scan scan = scan_number(token);
  return scan.sound && scan.integer;
}

ParsedDouble parse_json_double(std::string_view token) {
  double value = 0;
  const char* const end = token.data() + token.size();
  if (scan_short(token.data(), end, value) == end) return {NumberKind::kFinite, value};
  const Scan scan = scan_number(token);
  if (!scan.sound) return {NumberKind::kBroken, 0};
  if (has_exact_operands(scan)) return {NumberKind::kFinite, from_exact_operands(scan)};
  return parse_slow(token, scan);
}

const char* scan_short_number(const char* begin, const char* end, double& value) {
  return scan_short(begin, end, value);
}

ParsedTime parse_epoch_ms(std::string_view token) {
  const Scan scan = scan_number(token);
  if (!scan.sound) return {Malformed::kBadJson, 0};
  const bool plain = scan.integer && !scan.negative && scan.digit_count <= kExactDigits;
  if (!plain) return floor_decimal(token, scan, 0);
  if (scan.mantissa > static_cast<std::uint64_t>(kMaxEventMs)) return {Malformed::kBadTime, 0};
  return {Malformed::kNone, static_cast<EpochMs>(scan.mantissa)};
}

ParsedTime parse_scaled_ms(std::string_view token, int shift) {
  const Scan scan = scan_number(token);
  if (!scan.sound) return {Malformed::kBadJson, 0};
  return floor_decimal(token, scan, shift);
}

std::optional<std::int64_t> whole_digit_count(std::string_view token) {
  const Scan scan = scan_number(token);
  if (!scan.sound) return std::nullopt;
  const Digits digits(token);
  const std::size_t first = digits.first_significant();
  if (first == digits.size()) return std::nullopt;
  return whole_digits(digits, first, scan);
}

std::optional<FlooredDecimal> parse_decimal_floor(std::string_view token, int fraction_digits) {
  constexpr std::int64_t kMaxWholeDigits = 15;
  const Scan scan = scan_number(token);
  if (!scan.sound) return std::nullopt;
  const Digits digits(token);
  const std::size_t first = digits.first_significant();
  if (first == digits.size()) return FlooredDecimal{0, 0};
  const std::int64_t whole = whole_digits(digits, first, scan);
  if (whole > kMaxWholeDigits) return std::nullopt;
  const std::int64_t count = static_cast<std::int64_t>(digits.size() - first);
  // Digit p of the number without exponent and leading zeros; p is negative for zeros behind the point.
  const auto digit = [&](std::int64_t p) {
    return p < 0 || p >= count ? 0 : digits[first + static_cast<std::size_t>(p)] - '0';
  };
  FlooredDecimal floored{0, 0};
  for (std::int64_t p = 0; p < whole; ++p) floored.whole = floored.whole * 10 + digit(p);
  std::int64_t scale = 1;
  for (std::int64_t p = whole; p < whole + fraction_digits; ++p) {
    floored.fraction = floored.fraction * 10 + digit(p);
    scale *= 10;
  }
  if (!scan.negative) return floored;
  bool more = false;
  for (std::int64_t p = std::max<std::int64_t>(whole + fraction_digits, 0); p < count; ++p)
    more |= digit(p) != 0;
  floored.whole = -floored.whole;
  if (more || floored.fraction != 0) {
    --floored.whole;
    floored.fraction = scale - floored.fraction - (more ? 1 : 0);
  }
  return floored;
}

}  // namespace hourfold
