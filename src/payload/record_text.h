// The text of a record's value: what surrounds it, and its lines.
#pragma once

#include <algorithm>
#include <string_view>

#include "core/reading.h"

namespace hourfold {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

inline bool is_filler(char c) { return c == '\0' || c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Without a byte order mark in front and without NUL bytes and white space behind.
inline std::string_view trim_record(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty() && is_filler(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the next line that is not blank off the text; empty at the end.
inline std::string_view next_line(std::string_view& text) {
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (!std::all_of(line.begin(), line.end(), is_filler)) return trim_record(line);
  }
  return {};
}

inline ParsedReading malformed_reading(Malformed reason) {
  ParsedReading reading;
  reading.malformed = reason;
  return reading;
}

// Leaves the whole record as one malformed reading.
inline void fail_record(ParsedRecord& record, Malformed reason) {
  record.readings.clear();
  record.metrics.clear();
  record.rejected_metrics.fill(0);
  record.readings.push_back(malformed_reading(reason));
}

// Of a schema registry: a zero byte and an id of four.
inline constexpr std::size_t kFramingBytes = 5;

// Of a value that is no text in the expected format: kCompressed or kFramed, where that can be told, else
// kNone.
inline Malformed foreign_format(std::string_view value) {
  constexpr std::string_view kGzip = "\x1f\x8b";
  constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";
  if (value.starts_with(kGzip) || value.starts_with(kZstd)) return Malformed::kCompressed;
  // Ids are counted from 1; a NUL byte in front of a text is no framing.
  const bool framed = value.size() > kFramingBytes && value[0] == '\0' && value[1] == '\0';
  return framed ? Malformed::kFramed : Malformed::kNone;
}

}  // namespace hourfold
