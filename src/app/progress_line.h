// How far a long piece of work is: one line that is drawn over on a terminal, a line every few seconds
// elsewhere, on stderr. With rate and time left, as measured since it began.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hourfold {

struct ProgressFigures {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: not known
  double seconds = 0;       // since the beginning
};
// "12,345 of 50,000 records  24%  8,230/s  5s left"
std::string progress_text(const ProgressFigures& figures, const std::string& unit);

class ProgressLine {
 public:
  // quiet: nothing is ever written.
  explicit ProgressLine(bool quiet = false);
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Another piece of work begins. already: of its total, done before this process.
  void begin(std::string what, std::string unit, std::uint64_t total, std::uint64_t already = 0);
  // Draws at most a few times a second. remark: for behind the figures.
  void show(std::uint64_t done, const std::string& remark = {});
  // Leaves the line, so that something else can be written.
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  const bool quiet_;
  const bool terminal_;
  bool open_ = false;
  std::string what_;
  std::string unit_;
  std::uint64_t total_ = 0;
  std::uint64_t already_ = 0;
  Clock::time_point began_;
  Clock::time_point drawn_;
};

// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace hourfold
