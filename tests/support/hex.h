// Bytes as hexadecimal text and back, for golden bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hourfold::test {

inline std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    out.push_back(kDigits[static_cast<unsigned char>(byte) >> 4]);
    out.push_back(kDigits[static_cast<unsigned char>(byte) & 15]);
  }
  return out;
}

// Spaces between bytes are allowed.
inline std::string unhex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  int high = -1;
  for (const char c : text) {
    if (c == ' ') continue;
    if (high < 0) {
      high = digit(c);
    } else {
      out.push_back(static_cast<char>(high * 16 + digit(c)));
      high = -1;
    }
  }
  return out;
}

}  // namespace hourfold::test
