// Lines of files or of standard input, read in large pieces.
//
// Ownership: a line lives until the next call. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hourfold {

class LineReader {
 public:
  // "-": standard input. Refused: there is no such file, or it cannot be read.
  static Result<LineReader> open(const std::string& path);
  ~LineReader();
  LineReader(LineReader&& other) noexcept;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // False at the end. The line comes without its newline; the last one needs none. Refused: reading failed.
  Result<bool> next(std::string_view& line);
  // Of the line that next() gave last, from 1.
  std::uint64_t line_number() const { return line_number_; }
  const std::string& name() const { return name_; }

 private:
  static constexpr std::size_t kPieceBytes = 1 << 20;

  LineReader(int descriptor, std::string name);
  Result<bool> fill();

  int descriptor_;
  std::string name_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::uint64_t line_number_ = 0;
};

}  // namespace hourfold
