#include "payload/base64.h"

#include <cstdint>

namespace hourfold {
namespace {

constexpr std::uint32_t kNoDigit = 64;

std::uint32_t digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a') + 26;
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0') + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : kNoDigit;
}

}  // namespace

bool decode_base64(std::string_view text, std::string& out) {
  out.clear();
  const std::size_t whole = text.size();
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  const bool padded = text.size() != whole;
  if (text.size() % 4 == 1 || (padded && whole % 4 != 0)) return false;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const std::uint32_t digit = digit_of(c);
    if (digit == kNoDigit) return false;
    bits = bits << 6 | digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  return true;
}

}  // namespace hourfold
