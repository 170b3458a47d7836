#include "app/query_print.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "app/output.h"

namespace hourfold {
namespace {

constexpr std::size_t kColumns = 7;
constexpr std::size_t kTextColumns = 2;  // the first ones, left-aligned
using Line = std::array<std::string, kColumns>;

struct Decimals {
  int extremes = 0;
  int averages = 0;
  int sums = 0;
};

Decimals decimals_of(const Series& series) {
  double low = series.begin()->second.min;
  double high = series.begin()->second.max;
  for (const auto& [start, step] : series) {
    low = std::min(low, step.min);
    high = std::max(high, step.max);
  }
  const int most = decimals_for(low, high);
  Decimals decimals;
  for (const auto& [start, step] : series) {
    const Rollup rollup = step.rollup();
    decimals.extremes =
        std::max({decimals.extremes, needed_decimals(rollup.min, most), needed_decimals(rollup.max, most)});
    decimals.averages = std::max(decimals.averages, needed_decimals(average(rollup), most));
    decimals.sums = std::max(decimals.sums, needed_decimals(rollup.sum, most));
  }
  return decimals;
}

void append_lines(const std::string& metric, const Series& series, Step step, std::vector<Line>& lines) {
  const Decimals decimals = decimals_of(series);
  for (const auto& [start, aggregate] : series) {
    const Rollup rollup = aggregate.rollup();
    lines.push_back({printable(metric), step_text(start, step), rounded(rollup.min, decimals.extremes),
                     rounded(average(rollup), decimals.averages), rounded(rollup.max, decimals.extremes),
                     rounded(rollup.sum, decimals.sums), std::to_string(rollup.count)});
  }
}

void append_aligned(std::string& out, const Line& line, const std::array<std::size_t, kColumns>& widths) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    const std::string gap(widths[i] - columns_of(line[i]), ' ');
    if (i > 0) out += "  ";
    out += i < kTextColumns ? line[i] + gap : gap + line[i];
  }
  out += '\n';
}

// Calls append(metric, start, rollup) for every row in order.
template <class Append>
void each_row(const SeriesByMetric& series, const Append& append) {
  for (const auto& [metric, steps] : series) {
    for (const auto& [start, aggregate] : steps) append(metric, start, aggregate.rollup());
  }
}

void append_json_field(std::string& out, const char* name, double value) {
  out += ",\"";
  out += name;
  out += "\":";
  append_json_number(out, value);
}

}  // namespace

std::string table_text(const SeriesByMetric& series, Step step) {
  std::vector<Line> lines = {
      {"metric", std::string(to_string(step)) + " (UTC)", "min", "avg", "max", "sum", "count"}};
  for (const auto& [metric, steps] : series) append_lines(metric, steps, step, lines);
  std::array<std::size_t, kColumns> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], columns_of(line[i]));
  }
  std::string out;
  for (const Line& line : lines) append_aligned(out, line, widths);
  return out;
}

std::string csv_text(std::string_view device, const SeriesByMetric& series, Step step) {
  std::string out = "device,metric," + std::string(to_string(step)) + ",time,min,max,avg,sum,count\n";
  each_row(series, [&](const std::string& metric, EpochMs start, const Rollup& rollup) {
    append_csv_field(out, device);
    out += ',';
    append_csv_field(out, metric);
    out += ',';
    append_number(out, start);
    out += ',' + format_utc(start);
    for (const double value : {rollup.min, rollup.max, average(rollup), rollup.sum}) {
      out += ',';
      append_number(out, value);
    }
    out += ',';
    append_number(out, rollup.count);
    out += '\n';
  });
  return out;
}

std::string json_text(std::string_view device, const SeriesByMetric& series, Step step) {
  std::string out;
  each_row(series, [&](const std::string& metric, EpochMs start, const Rollup& rollup) {
    out += "{\"device\":";
    append_json_string(out, device);
    out += ",\"metric\":";
    append_json_string(out, metric);
    out += ",\"" + std::string(to_string(step)) + "\":";
    append_number(out, start);
    out += ",\"time\":\"" + format_utc(start) + '"';
    append_json_field(out, "min", rollup.min);
    append_json_field(out, "max", rollup.max);
    append_json_field(out, "avg", average(rollup));
    append_json_field(out, "sum", rollup.sum);
    out += ",\"count\":";
    append_number(out, rollup.count);
    out += "}\n";
  });
  return out;
}

std::string step_text(EpochMs start, Step step) {
  std::string text = format_utc(start);
  text[10] = ' ';
  switch (step) {
    case Step::kHour:
      return text.substr(0, 16);
    case Step::kDay:
      return text.substr(0, 10);
    case Step::kMonth:
      return text.substr(0, 7);
  }
  return text;
}

std::string range_text(EpochMs first, EpochMs last, Step step) {
  std::string text = step_text(first, step);
  if (step == Step::kHour) {
    text += " to " + step_text(next_step(last, step), step);
  } else if (last != first) {
    text += " to " + step_text(last, step);
  }
  return text + " UTC, by " + std::string(to_string(step));
}

int decimals_for(double low, double high) {
  constexpr int kMost = 9;
  const auto digits_before = [](double value) {
    return value > 0 ? static_cast<int>(std::floor(std::log10(value))) + 1 : 1;
  };
  const double largest = std::max(std::fabs(low), std::fabs(high));
  const double spread = std::min(high - low, largest);
  int decimals = 5 - digits_before(largest);
  if (spread > 0) decimals = std::max(decimals, 3 - digits_before(spread));
  return std::clamp(decimals, 0, kMost);
}

int needed_decimals(double value, int decimals) {
  std::string text = rounded(value, decimals);
  if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return 0;
  while (text.back() == '0') {
    text.pop_back();
    --decimals;
  }
  return decimals;
}

std::string rounded(double value, int decimals) {
  char text[64];
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  const bool plain = std::fabs(value) < 1e12;
  std::snprintf(text, sizeof text, plain ? "%.*f" : "%.*e", plain ? decimals : 5, value);
  return text;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if (byte < 0x20 || byte == 0x7f) out[i] = '?';
    // U+0080 to U+009F: control characters in two bytes.
    if (byte == 0xc2 && i + 1 < out.size() && static_cast<unsigned char>(out[i + 1]) < 0xa0)
      out.replace(i, 2, "?");
  }
  return out;
}

}  // namespace hourfold
