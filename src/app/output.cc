#include "app/output.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace hourfold {
namespace {

template <class Number>
void append_shortest(std::string& out, Number value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 0xf];
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

}  // namespace

void append_number(std::string& out, double value) {
  if (std::isinf(value)) {
    out += value > 0 ? "Infinity" : "-Infinity";
  } else if (value == 0 && std::signbit(value)) {
    out += "-0.0";  // "-0" would be read as the integer 0
  } else {
    append_shortest(out, value);
  }
}

void append_number(std::string& out, std::int64_t value) { append_shortest(out, value); }

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (needs_escape(c)) {
      append_escaped(out, c);
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_json_number(std::string& out, double value) {
  const bool quoted = std::isinf(value);
  if (quoted) out += '"';
  append_number(out, value);
  if (quoted) out += '"';
}

void append_csv_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string format_utc(EpochMs time) {
  using namespace std::chrono;
  const sys_time<milliseconds> point{milliseconds(time)};
  const auto day = floor<days>(point);
  const year_month_day date{day};
  const hh_mm_ss clock{floor<seconds>(point - day)};
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

void print_error(std::string_view message) {
  const std::string line = "hourfold: " + std::string(message) + "\n";
  std::fputs(line.c_str(), stderr);
}

void TextOutput::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

bool TextOutput::finish() {
  flush();
  if (error_ == 0) return true;
  print_error(std::string("cannot write the result: ") + std::strerror(error_));
  return false;
}

}  // namespace hourfold
