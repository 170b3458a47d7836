// Line protocol: what a line must look like, and which tags name the device.
#include <algorithm>
#include <map>
#include <optional>

#include "payload/field_options.h"
#include "payload/field_words.h"
#include "payload/plausible_time.h"
#include "payload/record_text.h"
#include "payload/shape_candidates.h"

namespace hourfold {
namespace {

constexpr int kUnmistakable = 300;
constexpr std::size_t kMostLines = 1000;

// Behind the first of the ends outside of quotes and not behind a backslash.
std::size_t end_of(std::string_view text, std::size_t i, std::string_view ends) {
  bool quoted = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && ends.find(text[i]) != std::string_view::npos) {
      return i;
    }
  }
  return std::min(i, text.size());
}

struct Line {
  std::vector<std::string> tags;
  std::optional<TimeUnit> unit;  // if it has a time
};

std::optional<Line> line_of(std::string_view text) {
  Line line;
  const std::size_t series = end_of(text, 0, " ");
  std::size_t at = end_of(text, 0, ", ");
  if (at == 0 || series + 1 >= text.size()) return std::nullopt;
  while (at < series) {
    const std::size_t equals = end_of(text, at + 1, "=, ");
    if (equals >= series || text[equals] != '=') return std::nullopt;
    line.tags.emplace_back(text.substr(at + 1, equals - at - 1));
    at = end_of(text, equals + 1, ", ");
  }
  const std::size_t fields = end_of(text, series + 1, " ");
  if (end_of(text.substr(0, fields), series + 1, "=") >= fields) return std::nullopt;
  if (fields >= text.size()) return line;
  const auto time = plausible_text(text.substr(fields + 1));
  if (!time || time->unit == TimeUnit::kRfc3339) return std::nullopt;
  line.unit = time->unit;
  return line;
}

struct Lines {
  std::size_t count = 0;
  std::map<std::string, std::size_t> tags;
  std::optional<TimeUnit> unit;
};

bool read_lines(std::string_view text, Lines& out) {
  for (std::string_view line = next_line(text); !line.empty() && out.count < kMostLines;
       line = next_line(text)) {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (line.starts_with('#')) continue;
    const auto read = line_of(line);
    if (!read) return false;
    ++out.count;
    for (const std::string& tag : read->tags) ++out.tags[tag];
    if (read->unit) out.unit = read->unit;
  }
  return true;
}

// The tag that is called like a device, else all that every line has.
std::vector<std::string> device_of(const Lines& lines, const RecordCopy& record) {
  constexpr std::size_t kMostParts = 8;
  std::vector<std::string> all;
  std::string best;
  int most = 0;
  for (const auto& [tag, count] : lines.tags) {
    if (count != lines.count) continue;
    all.push_back("tag:" + tag);
    const int points = device_points(plain_word(tag));
    if (points > most) best = "tag:" + tag;
    most = std::max(most, points);
  }
  if (!best.empty()) return {best};
  if (record.key) return {"key"};
  if (all.empty()) return {"measurement"};
  all.resize(std::min(all.size(), kMostParts));
  return all;
}

}  // namespace

void add_influx_candidate(std::span<const RecordCopy> records, std::vector<ShapeCandidate>& out) {
  Lines lines;
  for (const RecordCopy& record : records) {
    if (!record.value) continue;
    if (!read_lines(trim_record(*record.value), lines)) return;
  }
  if (lines.count == 0) return;
  ReadingShape shape;
  shape.format = PayloadFormat::kInflux;
  shape.time_unit = lines.unit.value_or(TimeUnit::kNs);
  shape.device = device_of(lines, records.front());
  out.push_back({shape, kUnmistakable});
}

}  // namespace hourfold
