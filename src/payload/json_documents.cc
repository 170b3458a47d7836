#include "payload/json_documents.h"

#include <algorithm>
#include <cstring>

#include "payload/record_text.h"

namespace hourfold {
namespace {

char first_of(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? '\0' : line[begin];
}

// Whether a broken record is lines that stand alone, rather than one document that goes on below its first
// line: an array that the line leaves open, or an object of which the next line has a name or the end.
bool is_line_by_line(std::string_view text) {
  const std::string_view line = next_line(text);
  const char below = first_of(next_line(text));
  if (line.empty() || below == '\0') return false;
  if (line.back() == '{') return below != '"' && below != '}';
  return line.back() != '[' && (first_of(line) != '[' || line.back() == ']');
}

}  // namespace

const ParsedRecord& JsonDocuments::parse(const RecordView& record) {
  clear_record();
  whole_text_ = {};
  const std::string_view value = trim_record(record.value);
  if (value.empty()) {
    fail(Malformed::kEmptyValue);
    return record_;
  }
  const std::string_view text = copy(value);
  begin(record);
  Malformed reason = read_text(text);
  if (reason == Malformed::kNone) {
    whole_text_ = text;
  } else {
    reason = read_broken(text, reason);
  }
  if (reason == Malformed::kNone && record_.readings.empty()) reason = Malformed::kNoMetrics;
  if (reason != Malformed::kNone) fail(reason);
  return record_;
}

void JsonDocuments::clear_record() {
  record_.readings.clear();
  record_.metrics.clear();
  record_.rejected_metrics.fill(0);
  arena_.reset();
}

// Into memory of our own with the padding that is read beyond the end.
std::string_view JsonDocuments::copy(std::string_view value) {
  const std::size_t needed = value.size() + JsonTokens::kPadding;
  if (buffer_.size() < needed) buffer_.resize(std::max(needed, 2 * buffer_.size()));
  std::memcpy(buffer_.data(), value.data(), value.size());
  std::memset(buffer_.data() + value.size(), 0, JsonTokens::kPadding);
  return {buffer_.data(), value.size()};
}

Malformed JsonDocuments::read_broken(std::string_view text, Malformed reason) {
  if (reason == Malformed::kTooMany) return reason;
  if (is_line_by_line(text)) reason = read_lines(text);
  const bool any_good = std::any_of(record_.readings.begin(), record_.readings.end(),
                                    [](const ParsedReading& r) { return r.malformed == Malformed::kNone; });
  const Malformed foreign = any_good ? Malformed::kNone : foreign_format(text);
  return foreign == Malformed::kNone ? reason : foreign;
}

Malformed JsonDocuments::read_lines(std::string_view text) {
  for (std::string_view line = next_line(text); !line.empty(); line = next_line(text)) {
    const Malformed reason = read_text(line);
    if (reason == Malformed::kTooMany) return reason;
    if (reason != Malformed::kNone) add_malformed(reason);
  }
  return record_.readings.size() > kMaxReadingsPerRecord ? Malformed::kTooMany : Malformed::kNone;
}

// All documents of the text, or a reason and no trace of them.
Malformed JsonDocuments::read_text(std::string_view text) {
  const std::size_t readings = record_.readings.size();
  const std::size_t metrics = record_.metrics.size();
  const auto rejected = record_.rejected_metrics;
  Malformed reason = tokens_.tokenize(text) ? read_documents() : Malformed::kBadJson;
  if (reason == Malformed::kNone) return reason;
  // Asked again, because how far the tokenizer looked depends on the processor.
  if (reason == Malformed::kBadJson && !JsonTokens::is_utf8(text)) reason = Malformed::kBadUtf8;
  record_.readings.resize(readings);
  record_.metrics.resize(metrics);
  record_.rejected_metrics = rejected;
  return reason;
}

Malformed JsonDocuments::read_documents() {
  if (tokens_.size() == 1 && tokens_.is_sound_scalar(0)) {
    read_scalar(0);
    return Malformed::kNone;
  }
  for (Index i = 0; i < tokens_.size();) {
    const char bracket = tokens_.first(i);
    if (bracket != '{' && bracket != '[') return Malformed::kBadJson;
    i = bracket == '{' ? read_object(i) : read_array(i);
    if (i == kBroken) return Malformed::kBadJson;
    if (record_.readings.size() > kMaxReadingsPerRecord) return Malformed::kTooMany;
  }
  return Malformed::kNone;
}

JsonDocuments::Index JsonDocuments::read_array(Index i) {
  if (tokens_.first(i + 1) == ']') add_malformed(Malformed::kNotAnObject);
  return tokens_.each_element(i, [this](Index element) {
    if (tokens_.first(element) == '{') return read_object(element);
    add_malformed(Malformed::kNotAnObject);
    return tokens_.skip(element).next;
  });
}

void JsonDocuments::add_malformed(Malformed reason) { record_.readings.push_back(malformed_reading(reason)); }

// The whole record is one malformed reading.
void JsonDocuments::fail(Malformed reason) { fail_record(record_, reason); }

}  // namespace hourfold
