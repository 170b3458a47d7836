#include "payload/influx_parser.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "payload/json_number.h"
#include "payload/json_tokens.h"
#include "payload/reading_fields.h"
#include "payload/record_text.h"
#include "payload/record_times.h"

namespace hourfold {
namespace {

using Kind = FieldSource::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Up to the first of the ends that no backslash stands before; that end stays.
std::string_view take_until(std::string_view& text, std::string_view ends) {
  std::size_t i = 0;
  while (i < text.size() && ends.find(text[i]) == std::string_view::npos) {
    i += text[i] == '\\' && i + 1 < text.size() ? std::size_t{2} : 1;
  }
  const std::string_view taken = text.substr(0, i);
  text.remove_prefix(i);
  return taken;
}

bool take(std::string_view& text, char c) {
  const bool there = text.starts_with(c);
  if (there) text.remove_prefix(1);
  return there;
}

void skip_spaces(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

// A backslash escapes what has a meaning in keys and tags; before anything else it is itself.
std::string_view unescaped(std::string_view text, Arena& arena) {
  char* const begin = arena.allocate(text.size());
  char* end = begin;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && std::strchr(", =\\", text[i + 1]) != nullptr &&
        text[i + 1] != '\0')
      ++i;
    *end++ = text[i];
  }
  return {begin, static_cast<std::size_t>(end - begin)};
}

// 21, -3: decimal digits alone.
bool is_whole(std::string_view token, bool may_be_negative) {
  if (may_be_negative && token.starts_with('-')) token.remove_prefix(1);
  return !token.empty() && std::all_of(token.begin(), token.end(), is_digit);
}

// The protocol's floats may have what JSON's have not: a plus, a point at either end, zeros in front.
std::string_view as_json_number(std::string_view token, Arena& arena) {
  char* const begin = arena.allocate(token.size() + 2);
  char* end = begin;
  if (token.starts_with('+')) token.remove_prefix(1);
  if (token.starts_with('-')) {
    *end++ = '-';
    token.remove_prefix(1);
  }
  while (token.size() > 1 && token[0] == '0' && is_digit(token[1])) token.remove_prefix(1);
  if (token.starts_with('.') && token.size() > 1 && is_digit(token[1])) *end++ = '0';
  for (std::size_t i = 0; i < token.size(); ++i) {
    *end++ = token[i];
    const bool bare_point = token[i] == '.' && i > 0 && is_digit(token[i - 1]) &&
                            (i + 1 == token.size() || !is_digit(token[i + 1]));
    if (bare_point) *end++ = '0';
  }
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

InfluxParser::InfluxParser(const ReadingShape& shape)
    : measurement_prefix_(shape.measurement_prefix),
      arrival_falls_back_(shape.arrival_falls_back_to_event),
      arrival_source_(field_source(shape.arrival)),
      time_unit_(shape.time_unit),
      device_(shape, arena_),
      metrics_(shape) {}

const ParsedRecord& InfluxParser::parse(const RecordView& record) {
  record_.readings.clear();
  record_.metrics.clear();
  record_.rejected_metrics.fill(0);
  arena_.reset();
  std::string_view text = trim_record(record.value);
  if (text.empty() || foreign_format(text) != Malformed::kNone) {
    fail_record(record_, text.empty() ? Malformed::kEmptyValue : foreign_format(text));
    return record_;
  }
  begin(record);
  bool any = false;
  for (std::string_view line = next_line(text); !line.empty(); line = next_line(text)) {
    skip_spaces(line);
    any = true;
    if (line.starts_with('#')) continue;
    ParsedReading reading;
    reading.malformed = read_line(line, reading);
    if (reading.malformed != Malformed::kNone) reading = malformed_reading(reading.malformed);
    record_.readings.push_back(reading);
    if (record_.readings.size() > kMaxReadingsPerRecord) {
      fail_record(record_, Malformed::kTooMany);
      return record_;
    }
  }
  if (record_.readings.empty()) fail_record(record_, any ? Malformed::kNoMetrics : Malformed::kEmptyValue);
  return record_;
}

void InfluxParser::begin(const RecordView& record) {
  device_.take_record(record);
  metrics_.next_record();
  record_time_ = timestamp_of(record);
  arrival_ = record_time(arrival_source_, record, &EnvelopeFields::arrival);
}

Malformed InfluxParser::read_line(std::string_view line, ParsedReading& reading) {
  if (!JsonTokens::is_utf8(line)) return Malformed::kBadUtf8;
  device_.next_reading();
  metrics_.clear();
  if (!read_series(line) || !read_fields(line)) return Malformed::kBadLine;
  skip_spaces(line);
  const TimeField time = read_time(line);
  if (time.reason == Malformed::kBadLine) return time.reason;
  const Malformed reason = take_fields(reading, device_.whole(), time, arrival_, arrival_falls_back_);
  return reason == Malformed::kNone ? take_metrics(reading, metrics_, record_) : reason;
}

// The measurement and its tags, up to the space behind them.
bool InfluxParser::read_series(std::string_view& line) {
  measurement_ = unescaped(take_until(line, ", "), arena_);
  if (measurement_.empty()) return false;
  for (std::size_t part = 0; part < device_.sources().size(); ++part) {
    if (device_.sources()[part].kind == Kind::kMeasurement)
      device_.part(part) = {Malformed::kNone, measurement_};
  }
  while (take(line, ',')) {
    const std::string_view key = take_until(line, "=, ");
    if (key.empty() || !take(line, '=')) return false;
    const std::string_view value = take_until(line, "=, ");
    if (value.empty() || line.starts_with('=')) return false;
    take_tag(unescaped(key, arena_), unescaped(value, arena_));
  }
  return take(line, ' ');
}

void InfluxParser::take_tag(std::string_view key, std::string_view value) {
  for (std::size_t part = 0; part < device_.sources().size(); ++part) {
    const FieldSource& source = device_.sources()[part];
    if (source.kind == Kind::kTag && source.name == key)
      device_.part(part) = {is_device(value) ? Malformed::kNone : Malformed::kBadDevice, value};
  }
}

bool InfluxParser::read_fields(std::string_view& line) {
  skip_spaces(line);
  do {
    const std::string_view key = take_until(line, "=, ");
    if (key.empty() || !take(line, '=')) return false;
    const std::string_view name = metric_name(unescaped(key, arena_));
    MetricList::Entry& entry = metrics_.add(name);
    if (!read_field_value(line, entry)) return false;
    if (!MetricList::is_name(name, true)) entry.take(MetricReject::kBadName);
  } while (take(line, ','));
  return line.empty() || line.front() == ' ';
}

std::string_view InfluxParser::metric_name(std::string_view field) {
  if (!measurement_prefix_) return field;
  const std::size_t size = measurement_.size() + 1 + field.size();
  char* const name = arena_.allocate(size);
  char* end = std::copy(measurement_.begin(), measurement_.end(), name);
  *end++ = '.';
  std::copy(field.begin(), field.end(), end);
  return {name, size};
}

bool InfluxParser::read_field_value(std::string_view& line, MetricList::Entry& entry) {
  if (line.starts_with('"')) return read_text(line, entry);
  const std::size_t size = std::min(line.find_first_of(", "), line.size());
  const std::string_view token = line.substr(0, size);
  line.remove_prefix(size);
  return take_scalar(token, entry);
}

bool InfluxParser::read_text(std::string_view& line, MetricList::Entry& entry) {
  std::size_t i = 1;
  while (i < line.size() && line[i] != '"') i += line[i] == '\\' && i + 1 < line.size() ? std::size_t{2} : 1;
  if (i >= line.size()) return false;
  metrics_.take_text(line.substr(1, i - 1), entry);
  line.remove_prefix(i + 1);
  return true;
}

bool InfluxParser::take_scalar(std::string_view token, MetricList::Entry& entry) {
  if (token.empty()) return false;
  for (const std::string_view word :
       {"t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"}) {
    if (token != word) continue;
    metrics_.take_boolean(word.front() == 't' || word.front() == 'T', entry);
    return true;
  }
  const char last = token.back();
  if (last == 'i' || last == 'u') {
    token.remove_suffix(1);
    if (!is_whole(token, last == 'i')) return false;
  }
  if (MetricList::take_number(as_json_number(token, arena_), entry)) return true;
  for (const std::string_view word : {"NaN", "nan", "Inf", "+Inf", "-Inf", "inf", "+inf", "-inf"}) {
    if (token == word) {
      entry.take(MetricReject::kNotFinite);
      return true;
    }
  }
  return false;
}

TimeField InfluxParser::read_time(std::string_view text) const {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text.empty()) return record_time_;
  if (!is_whole(text, true)) return {Malformed::kBadLine, 0};
  const ParsedTime time = parse_epoch(text, time_unit_);
  // Zeros in front are no JSON.
  return {time.reason == Malformed::kBadJson ? Malformed::kBadTime : time.reason, time.ms};
}

}  // namespace hourfold
