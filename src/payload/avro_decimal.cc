#include "payload/avro_decimal.h"

#include <algorithm>
#include <vector>

namespace hourfold {
namespace {

// Absolute value, a byte an element, the highest one first. That of the lowest number of a length fits, too.
std::vector<std::uint32_t> magnitude(std::string_view bytes, bool negative) {
  std::vector<std::uint32_t> digits(bytes.size());
  std::uint32_t carry = negative ? 1 : 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    const std::uint32_t byte = static_cast<unsigned char>(bytes[i]);
    const std::uint32_t sum = (negative ? byte ^ 0xffU : byte) + carry;
    digits[i] = sum & 0xffU;
    carry = sum >> 8;
  }
  return digits;
}

// Decimal digits, the lowest one first; at least one.
std::string decimal_digits(std::vector<std::uint32_t> number) {
  constexpr std::uint32_t kBase = 1'000'000'000;
  constexpr int kBaseDigits = 9;
  std::string digits;
  std::size_t begin = 0;
  while (begin < number.size() && number[begin] == 0) ++begin;
  while (begin < number.size()) {
    std::uint64_t rest = 0;
    for (std::size_t i = begin; i < number.size(); ++i) {
      rest = rest << 8 | number[i];
      number[i] = static_cast<std::uint32_t>(rest / kBase);
      rest %= kBase;
    }
    while (begin < number.size() && number[begin] == 0) ++begin;
    for (int i = 0; i < kBaseDigits; ++i, rest /= 10) digits += static_cast<char>('0' + rest % 10);
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  return digits.empty() ? "0" : digits;
}

}  // namespace

void append_decimal(std::string_view bytes, std::uint32_t scale, std::string& json) {
  const bool negative = static_cast<unsigned char>(bytes.front()) >= 0x80;
  std::string digits = decimal_digits(magnitude(bytes, negative));
  if (digits.size() <= scale) digits.append(scale + 1 - digits.size(), '0');
  if (negative) json += '-';
  json.append(digits.rbegin(), digits.rend() - scale);
  if (scale == 0) return;
  json += '.';
  json.append(digits.rend() - scale, digits.rend());
}

}  // namespace hourfold
