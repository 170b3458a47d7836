// Rollups as text for programs: JSON lines and CSV with numbers that read back exactly. And where text goes:
// standard output, buffered.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/aggregate.h"
#include "core/types.h"

namespace hourfold {

// Shortest text that reads back as the same double; -0.0 keeps its sign, infinities are "Infinity" and
// "-Infinity".
void append_number(std::string& out, double value);
void append_number(std::string& out, std::int64_t value);
// In quotes; infinities, which JSON has no number for, as strings.
void append_json_string(std::string& out, std::string_view text);
void append_json_number(std::string& out, double value);
// In quotes only where RFC 4180 needs them.
void append_csv_field(std::string& out, std::string_view text);

// 2026-01-01T00:00:00Z
std::string format_utc(EpochMs time);

// One message on stderr, as every command gives it: "hourfold: what was tried, what came back, what to do".
void print_error(std::string_view message);

// Collects text and writes it to a file descriptor in large pieces. A write that fails ends all further ones;
// ask ok() at the end.
class TextOutput {
 public:
  explicit TextOutput(int descriptor) : descriptor_(descriptor) {}
  ~TextOutput() { flush(); }
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  // Append to it, then call written().
  std::string& buffer() { return buffer_; }
  void written() {
    if (buffer_.size() >= kPieceBytes) flush();
  }
  void write(std::string_view text) {
    buffer_.append(text);
    written();
  }
  void flush();
  // Flushes; false after the message was printed that writing failed.
  bool finish();

 private:
  static constexpr std::size_t kPieceBytes = 256 * 1024;

  int descriptor_;
  int error_ = 0;
  std::string buffer_;
};

}  // namespace hourfold
