#include "app/query_plot.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include "app/output.h"
#include "app/query_plot_axes.h"
#include "app/query_print.h"

namespace hourfold {
namespace {

// A character of braille is two dots wide and four high.
constexpr std::size_t kDotsX = 2;
constexpr std::size_t kDotsY = 4;
constexpr std::size_t kColumnsPerStepMax = 6;

constexpr const char* kBand = "░";
constexpr const char* kBandColour = "\033[34m";
constexpr const char* kLineColour = "\033[1;36m";
constexpr const char* kNameColour = "\033[1m";
constexpr const char* kPlainColour = "\033[0m";

std::string braille(unsigned dots) {
  std::string text = "\xe2\xa0\x80";
  text[1] = static_cast<char>(0xa0 + (dots >> 6));
  text[2] = static_cast<char>(0x80 + (dots & 0x3f));
  return text;
}

// Bit of a dot in a braille character, from the top left.
unsigned braille_bit(std::size_t x, std::size_t y) {
  constexpr std::array<std::array<unsigned, kDotsX>, kDotsY> kBits = {
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  return kBits[y][x];
}

class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows)
      : columns_(columns), rows_(rows), dots_(columns * rows), band_(columns * rows) {}

  std::size_t dots_high() const { return rows_ * kDotsY; }
  // y counts dots from the bottom; from <= to.
  void draw_line(std::size_t x, std::size_t from, std::size_t to) {
    for (std::size_t y = from; y <= to; ++y) {
      const std::size_t down = dots_high() - 1 - y;
      dots_[down / kDotsY * columns_ + x / kDotsX] |= braille_bit(x % kDotsX, down % kDotsY);
    }
  }
  void draw_band(std::size_t x, std::size_t from, std::size_t to) {
    for (std::size_t row = from / kDotsY; row <= to / kDotsY; ++row)
      band_[(rows_ - 1 - row) * columns_ + x / kDotsX] = true;
  }
  void append_row(std::string& out, std::size_t row, bool colour) const {
    const char* current = kPlainColour;
    for (std::size_t i = row * columns_; i < (row + 1) * columns_; ++i) {
      const char* const wanted = dots_[i] != 0 ? kLineColour : band_[i] ? kBandColour : kPlainColour;
      if (colour && wanted != current) out += current = wanted;
      out += dots_[i] != 0 ? braille(dots_[i]) : band_[i] ? kBand : " ";
    }
    if (colour && current != kPlainColour) out += kPlainColour;
  }

 private:
  std::size_t columns_;
  std::size_t rows_;
  std::vector<unsigned> dots_;
  std::vector<bool> band_;
};

// What a column of dots shows: all steps that begin in it, or else the one that covers it.
std::optional<Rollup> at(const Series& series, EpochMs begin, EpochMs end, Step step) {
  auto entry = series.lower_bound(begin);
  if (entry == series.end() || entry->first >= end) {
    const auto covering = series.find(step_start(begin, step));
    return covering == series.end() ? std::nullopt : std::optional(covering->second.rollup());
  }
  Aggregate all = entry->second;
  for (++entry; entry != series.end() && entry->first < end; ++entry) all.merge(entry->second);
  return all.rollup();
}

void draw(Canvas& canvas, const Series& series, Step step, const TimeAxis& times, const ValueAxis& values) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t before = kNone;
  for (std::size_t x = 0; x < times.dots; ++x) {
    const auto rollup = at(series, times.begin_of(x), times.begin_of(x + 1), step);
    if (!rollup) {
      before = kNone;
      continue;
    }
    const auto dot = [&](double value) { return values.dot(value, canvas.dots_high()); };
    const std::size_t middle = dot(average(*rollup));
    canvas.draw_band(x, dot(rollup->min), dot(rollup->max));
    if (before == kNone) before = middle;
    canvas.draw_line(x, std::min(middle, before), std::max(middle, before));
    before = middle;
  }
}

Rollup whole(const Series& series) {
  Aggregate all = series.begin()->second;
  for (auto entry = std::next(series.begin()); entry != series.end(); ++entry) all.merge(entry->second);
  return all.rollup();
}

std::string title(const std::string& metric, const Rollup& all, bool colour) {
  const int most = decimals_for(all.min, all.max);
  const int decimals = std::max(needed_decimals(all.min, most), needed_decimals(all.max, most));
  std::string text = colour ? kNameColour + printable(metric) + kPlainColour : printable(metric);
  text += "   min " + rounded(all.min, decimals) + "   avg " +
          rounded(average(all), needed_decimals(average(all), most)) + "   max " + rounded(all.max, decimals);
  return text + "   " + std::to_string(all.count) + (all.count == 1 ? " value\n" : " values\n");
}

std::string pad_left(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, columns_of(text)), ' ') + text;
}

}  // namespace

std::string plot_text(const std::string& metric, const Series& series, Step step, EpochMs first, EpochMs last,
                      const PlotSize& size) {
  const Rollup all = whole(series);
  const ValueAxis values(all.min, all.max, size.height);
  const std::size_t label_columns = values.label_columns();
  const std::size_t room = std::max(size.width, kMinPlotWidth) - label_columns - 2;
  const TimeAxis times(first, last, step, room, kColumnsPerStepMax);
  Canvas canvas(times.columns, size.height);
  draw(canvas, series, step, times, values);

  std::string out = title(metric, all, size.colour);
  for (std::size_t row = 0; row < size.height; ++row) {
    const auto label = values.label(row, size.height);
    out += pad_left(label.value_or(""), label_columns) + (label ? " ┤" : " │");
    canvas.append_row(out, row, size.colour);
    while (out.back() == ' ') out.pop_back();
    out += '\n';
  }
  const std::string indent(label_columns + 1, ' ');
  out += indent + "└" + times.ruler() + '\n';
  out += indent + " " + times.labels() + '\n';
  return out;
}

std::string plot_legend(bool colour) {
  const std::string band = colour ? std::string(kBandColour) + kBand + kPlainColour : kBand;
  const std::string line = colour ? std::string(kLineColour) + "⠒⠒" + kPlainColour : "⠒⠒";
  return line + " average   " + band + band + " min to max   times in UTC\n";
}

}  // namespace hourfold
