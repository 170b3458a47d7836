// Numbers against strtod and a slow reader of decimal digits; base64 against a slow decoder.
#include <bit>
#include <cmath>
#include <cstdlib>

#include "payload/base64.h"
#include "payload/json_number.h"
#include "tests/fuzz/decimal.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {
namespace {

void check_double(std::string_view token, const std::optional<Decimal>& number) {
  const ParsedDouble parsed = parse_json_double(token);
  require((parsed.kind != NumberKind::kBroken) == number.has_value(), "the grammar of RFC 8259", token);
  require(is_json_number(token) == number.has_value(), "the grammar of RFC 8259", token);
  const bool whole = number && token.find_first_of(".eE") == std::string_view::npos;
  require(is_json_integer(token) == whole, "an integer or none", token);
  if (!number) return;
  const double expected = std::strtod(std::string(token).c_str(), nullptr);
  require((parsed.kind == NumberKind::kFinite) == std::isfinite(expected), "a double or none", token);
  if (parsed.kind == NumberKind::kFinite)
    require(std::bit_cast<std::uint64_t>(parsed.value) == std::bit_cast<std::uint64_t>(expected),
            "the nearest double", token);
}

void check_floor(std::string_view token, const std::optional<Decimal>& number, int digits) {
  const auto floored = parse_decimal_floor(token, digits);
  if (!number) return require(!floored, "no number", token);
  const bool small = number->zero() || number->point() <= 15;
  require(floored.has_value() == small, "numbers below 10^15", token);
  if (!floored) return;
  std::int64_t scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  require(floored->fraction >= 0 && floored->fraction < scale, "a fraction below one", token);
  const std::int64_t whole = number->floor().value();
  require(floored->whole == whole, "the number's floor", token);
  // In two parts, as the whole of it may pass 64 bits.
  const auto sum = static_cast<__int128>(floored->whole) * scale + floored->fraction;
  if (const auto scaled = number->scaled(digits).floor())
    require(sum == *scaled, "the floor of its digits", token);
}

void check_whole_digits(std::string_view token, const std::optional<Decimal>& number) {
  const auto count = whole_digit_count(token);
  require(count.has_value() == (number && !number->zero()), "a count of digits but for zero", token);
  // Beyond, both have stopped counting.
  if (count && std::abs(number->point()) < 1'000'000'000)
    require(*count == number->point(), "its digits", token);
}

std::optional<std::string> slow_base64(std::string_view text) {
  const std::string_view body = text.substr(0, text.find('='));
  const std::size_t padding = text.size() - body.size();
  std::string bits;
  for (const char c : body) {
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+' || c == '-' ? 62
                      : c == '/' || c == '_' ? 63
                                             : -1;
    if (value < 0) return std::nullopt;
    for (int bit = 5; bit >= 0; --bit) bits += (value >> bit & 1) != 0 ? '1' : '0';
  }
  if (body.size() % 4 == 1 || text.find_first_not_of('=', body.size()) != std::string_view::npos)
    return std::nullopt;
  if (padding != 0 && (text.size() % 4 != 0 || padding > 2)) return std::nullopt;
  std::string bytes;
  for (std::size_t at = 0; at + 8 <= bits.size(); at += 8)
    bytes += static_cast<char>(std::stoi(bits.substr(at, 8), nullptr, 2));
  return bytes;
}

}  // namespace

void try_input(std::string_view bytes) {
  Input input(bytes);
  const std::size_t digits = input.letter(20);
  const Exact text(input.rest());
  if (digits == 19) {
    std::string decoded;
    const auto expected = slow_base64(text.view());
    require(decode_base64(text.view(), decoded) == expected.has_value(), "base64 or none", text.view());
    if (expected) require_equal(decoded, *expected, "the same bytes");
    return;
  }
  const std::optional<Decimal> number = Decimal::read(text.view());
  check_double(text.view(), number);
  check_floor(text.view(), number, static_cast<int>(digits));
  check_whole_digits(text.view(), number);
}

}  // namespace hourfold::fuzz
