#include "payload/json_string.h"

#include <cstdint>
#include <cstring>

namespace hourfold {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Of \uXXXX, whose four digits begin at p.
std::optional<std::uint32_t> hex_unit(const char* p, const char* end) {
  if (end - p < 4) return std::nullopt;
  std::uint32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_value(p[i]);
    if (digit < 0) return std::nullopt;
    unit = unit << 4 | static_cast<std::uint32_t>(digit);
  }
  return unit;
}

// Moves p behind the one or two units of the code point.
std::optional<std::uint32_t> code_point(const char*& p, const char* end) {
  const auto high = hex_unit(p, end);
  if (!high) return std::nullopt;
  p += 4;
  if (*high < 0xd800 || *high > 0xdfff) return high;
  if (*high > 0xdbff || end - p < 6 || p[0] != '\\' || p[1] != 'u') return std::nullopt;
  const auto low = hex_unit(p + 2, end);
  if (!low || *low < 0xdc00 || *low > 0xdfff) return std::nullopt;
  p += 6;
  return 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
}

char* write_utf8(std::uint32_t code, char* out) {
  const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
  return out;
}

// '\0' if there is no such escape.
char simple_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

}  // namespace

std::optional<std::size_t> unescape_json(std::string_view raw, char* out) {
  const char* p = raw.data();
  const char* const end = p + raw.size();
  char* const begin = out;
  while (p != end) {
    const void* found = std::memchr(p, '\\', static_cast<std::size_t>(end - p));
    const char* const escape = found != nullptr ? static_cast<const char*>(found) : end;
    std::memcpy(out, p, static_cast<std::size_t>(escape - p));
    out += escape - p;
    p = escape;
    if (p == end) break;
    if (++p == end) return std::nullopt;
    const char kind = *p++;
    if (kind == 'u') {
      const auto code = code_point(p, end);
      if (!code) return std::nullopt;
      out = write_utf8(*code, out);
    } else {
      const char plain = simple_escape(kind);
      if (plain == '\0') return std::nullopt;
      *out++ = plain;
    }
  }
  return static_cast<std::size_t>(out - begin);
}

}  // namespace hourfold
