#include "app/query_plot_axes.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "app/output.h"
#include "app/query_print.h"

namespace hourfold {
namespace {

using namespace std::chrono;

// The least of 1, 2, 5 times a power of ten that is not below the value.
double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * 0.999999) return factor * power;
  }
  return 10.0 * power;
}

// Distance of labels on the time axis: so many hours, days or months.
struct Interval {
  Step unit;
  int count;
};
constexpr std::array kIntervals = {
    Interval{Step::kHour, 1},  Interval{Step::kHour, 2},  Interval{Step::kHour, 3},
    Interval{Step::kHour, 6},  Interval{Step::kHour, 12}, Interval{Step::kDay, 1},
    Interval{Step::kDay, 2},   Interval{Step::kDay, 7},   Interval{Step::kDay, 14},
    Interval{Step::kMonth, 1}, Interval{Step::kMonth, 3}, Interval{Step::kMonth, 6},
    Interval{Step::kMonth, 12}};

year_month_day date_of(EpochMs time) { return floor<days>(sys_time<milliseconds>(milliseconds(time))); }

bool is_tick(EpochMs start, const Interval& interval) {
  switch (interval.unit) {
    case Step::kHour:
      return floor_div(start, kHourMs) % interval.count == 0;
    case Step::kDay:
      return floor_div(start, 24 * kHourMs) % interval.count == 0;
    case Step::kMonth:
      break;
  }
  return (static_cast<unsigned>(date_of(start).month()) - 1) % static_cast<unsigned>(interval.count) == 0;
}

std::string tick_text(EpochMs start, const Interval& interval) {
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const year_month_day date = date_of(start);
  const std::string utc = format_utc(start);
  const std::string month = kMonths[static_cast<unsigned>(date.month()) - 1];
  const bool year_begins = date.month() == January && date.day() == std::chrono::day(1);
  if (interval.unit == Step::kMonth) return year_begins ? utc.substr(0, 4) : month;
  if (interval.unit == Step::kHour && start % (24 * kHourMs) != 0) return utc.substr(11, 5);
  return month + ' ' + utc.substr(8, 2);
}

constexpr std::size_t kLabelColumns = 8;  // of the longest label, and a gap

}  // namespace

ValueAxis::ValueAxis(double least, double greatest, std::size_t rows) : low_(least), high_(greatest) {
  if (!(high_ - low_ > std::fabs(high_) * 1e-12)) {
    const double room = high_ == 0 ? 1.0 : std::fabs(high_) * 0.1;
    low_ -= room;
    high_ += room;
  }
  // Halved before the subtraction, which could overflow.
  const double intervals = std::max(2.0, static_cast<double>(rows) / 2.0);
  const double distance = round_up((high_ / 2 - low_ / 2) / intervals * 2);
  for (double i = std::ceil(low_ / distance); i <= std::floor(high_ / distance); ++i)
    ticks_.push_back(i * distance);
  const bool plain = distance >= 1e-6 && std::max(std::fabs(low_), std::fabs(high_)) < 1e9;
  const int decimals = static_cast<int>(std::max(0.0, -std::floor(std::log10(distance) + 1e-9)));
  for (const double tick : ticks_) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", tick);
    texts_.push_back(plain ? rounded(tick, decimals) : text);
    label_columns_ = std::max(label_columns_, texts_.back().size());
  }
}

std::size_t ValueAxis::dot(double value, std::size_t dots_high) const {
  const double share = std::clamp((value / 2 - low_ / 2) / (high_ / 2 - low_ / 2), 0.0, 1.0);
  return static_cast<std::size_t>(std::lround(share * static_cast<double>(dots_high - 1)));
}

std::optional<std::string> ValueAxis::label(std::size_t row, std::size_t rows) const {
  constexpr std::size_t kDotsPerRow = 4;
  for (std::size_t i = 0; i < ticks_.size(); ++i) {
    if (rows - 1 - dot(ticks_[i], rows * kDotsPerRow) / kDotsPerRow == row) return texts_[i];
  }
  return std::nullopt;
}

TimeAxis::TimeAxis(EpochMs first, EpochMs last, Step step, std::size_t room, std::size_t columns_per_step_max)
    : begin(first), end(next_step(last, step)) {
  std::size_t steps = 0;
  for (EpochMs start = begin; start < end && steps * columns_per_step_max < room;
       start = next_step(start, step))
    ++steps;
  columns = std::min(room, steps * columns_per_step_max);
  dots = columns * 2;
  for (const Interval& interval : kIntervals) {
    if (interval.unit < step) continue;
    ticks_.clear();
    for (EpochMs start = step_start(begin, interval.unit); start < end;
         start = next_step(start, interval.unit)) {
      if (start < begin || !is_tick(start, interval)) continue;
      const auto column = static_cast<double>(start - begin) / static_cast<double>(end - begin) *
                          static_cast<double>(columns);
      ticks_.push_back({static_cast<std::size_t>(column), tick_text(start, interval)});
    }
    if (ticks_.size() * kLabelColumns <= columns + kLabelColumns) break;
  }
  if (ticks_.empty()) ticks_.push_back({0, step_text(begin, step)});
}

EpochMs TimeAxis::begin_of(std::size_t dot) const {
  return begin + static_cast<EpochMs>(static_cast<double>(end - begin) * static_cast<double>(dot) /
                                      static_cast<double>(dots));
}

std::string TimeAxis::ruler() const {
  std::string out;
  std::size_t next = 0;
  for (std::size_t column = 0; column < columns; ++column) {
    const bool tick = next < ticks_.size() && ticks_[next].column == column;
    if (tick) ++next;
    out += tick ? "┬" : "─";
  }
  return out;
}

std::string TimeAxis::labels() const {
  std::string out;
  for (const Tick& tick : ticks_) {
    if (!out.empty() && tick.column < out.size() + 1) continue;
    // The last label may end with the axis, as it would be broken by the terminal otherwise.
    if (tick.column > 0 && tick.column + tick.text.size() > columns) continue;
    out.resize(tick.column, ' ');
    out += tick.text;
  }
  return out;
}

}  // namespace hourfold
