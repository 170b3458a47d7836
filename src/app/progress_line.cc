#include "app/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hourfold {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr auto kPlainLine = std::chrono::seconds(5);

std::string time_left(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return std::to_string(whole) + "s";
  if (whole < 3600) return std::to_string(whole / 60) + "m" + std::to_string(whole % 60) + "s";
  return std::to_string(whole / 3600) + "h" + std::to_string(whole % 3600 / 60) + "m";
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string progress_text(const ProgressFigures& figures, const std::string& unit) {
  std::string text = grouped(figures.done);
  const std::uint64_t total = std::max(figures.total, figures.done);
  if (figures.total > 0) text += " of " + grouped(total);
  text += " " + unit;
  if (figures.total > 0) text += "  " + std::to_string(figures.done * 100 / total) + "%";
  if (figures.seconds <= 0) return text;
  const double rate = static_cast<double>(figures.done) / figures.seconds;
  text += "  " + grouped(static_cast<std::uint64_t>(std::llround(rate))) + "/s";
  if (figures.total > 0 && rate > 0)
    text += "  " + time_left(static_cast<double>(total - figures.done) / rate) + " left";
  return text;
}

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::begin(std::string what, std::string unit, std::uint64_t total, std::uint64_t already) {
  end();
  what_ = std::move(what);
  unit_ = std::move(unit);
  total_ = total;
  already_ = already;
  began_ = Clock::now();
  drawn_ = terminal_ ? Clock::time_point() : began_;
}

void ProgressLine::show(std::uint64_t done, const std::string& remark) {
  const auto now = Clock::now();
  if (quiet_ || (drawn_ != Clock::time_point() && now - drawn_ < (terminal_ ? kRedraw : kPlainLine))) return;
  drawn_ = now;
  ProgressFigures figures;
  figures.done = done - std::min(done, already_);
  figures.total = total_ - std::min(total_, already_);
  figures.seconds = std::chrono::duration<double>(now - began_).count();
  const std::string line =
      what_ + ": " + progress_text(figures, unit_) + (remark.empty() ? "" : "  " + remark);
  if (terminal_) {
    std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
    std::fflush(stderr);
    open_ = true;
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

void ProgressLine::end() {
  if (open_) std::fputs("\r\x1b[K", stderr);
  open_ = false;
}

}  // namespace hourfold
