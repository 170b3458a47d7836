#include "core/json_parser.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/arena.h"
#include "core/check.h"
#include "core/json_metrics.h"
#include "core/json_number.h"
#include "core/json_tokens.h"

namespace hourfold {
namespace {

using Index = JsonTokens::Index;
constexpr Index kBroken = JsonTokens::kBroken;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kFromKey = "key";
constexpr std::string_view kFromRecord = "record";

bool is_filler(char c) { return c == '\0' || JsonTokens::is_space(c); }

// Without a byte order mark in front and without NUL bytes and white space behind.
std::string_view trim(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty() && is_filler(text.back())) text.remove_suffix(1);
  return text;
}

bool is_blank(std::string_view text) { return std::all_of(text.begin(), text.end(), is_filler); }

// Takes the next line that is not blank off the text; empty at the end.
std::string_view next_line(std::string_view& text) {
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (!is_blank(line)) return trim(line);
  }
  return {};
}

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

// The name that a pointer of one level holds (RFC 6901); what is no such pointer names nothing and is the
// caller's mistake.
std::string member_name(std::string_view pointer) {
  HF_CHECK(pointer.starts_with('/'));
  pointer.remove_prefix(1);
  HF_CHECK(pointer.find('/') == std::string_view::npos);
  std::string name;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    const bool escape = pointer[i] == '~' && i + 1 < pointer.size();
    if (escape) ++i;
    name += escape && pointer[i] == '0' ? '~' : escape && pointer[i] == '1' ? '/' : pointer[i];
  }
  return name;
}

// A member that the settings name.
class MemberName {
 public:
  MemberName() = default;
  explicit MemberName(std::string name) : name_(std::move(name)) {
    name_.reserve(name_.size() + Arena::kSlack);
    tag_ = name_tag(name_);
  }
  bool is(std::string_view name, std::uint64_t tag) const { return tag == tag_ && name == name_; }

 private:
  std::string name_;
  std::uint64_t tag_ = 0;
};

bool is_device(std::string_view id) {
  return !id.empty() && id.size() <= kMaxDeviceBytes && std::memchr(id.data(), '\0', id.size()) == nullptr;
}

ParsedReading malformed(Malformed reason) {
  ParsedReading reading;
  reading.malformed = reason;
  return reading;
}

bool is_time(EpochMs ms) { return ms >= 0 && ms <= kMaxEventMs; }

}  // namespace

class JsonParser::Impl {
 public:
  explicit Impl(const ReadingShape& shape)
      : device_from_key_(shape.device == kFromKey),
        arrival_from_record_(shape.arrival == kFromRecord),
        arrival_falls_back_(shape.arrival_falls_back_to_event),
        device_name_(device_from_key_ ? MemberName() : MemberName(member_name(shape.device))),
        time_name_(member_name(shape.time)),
        metrics_name_(member_name(shape.metrics)),
        arrival_name_(arrival_from_record_ ? MemberName() : MemberName(member_name(shape.arrival))),
        tokens_(arena_),
        metrics_(tokens_, arena_, {shape.numeric_strings, shape.booleans}) {}

  const ParsedRecord& parse(std::string_view value, std::optional<std::string_view> key,
                            EpochMs record_time_ms);

 private:
  struct DeviceField {
    Malformed reason = Malformed::kNoDevice;
    std::string_view id;
  };
  struct TimeField {
    Malformed reason = Malformed::kNoTime;
    EpochMs ms = 0;
  };

  std::string_view copy(std::string_view value);
  void take_key(std::optional<std::string_view> key);
  void take_record_time(EpochMs ms);

  Malformed read_lines(std::string_view text);
  Malformed read_text(std::string_view text);
  Malformed read_documents();
  Index read_array(Index i);
  Index read_element(Index i);
  Index read_reading(Index i);
  Index read_member(std::string_view name, Index i);
  Index read_device(Index i);
  Index read_time(Index i, TimeField& field);
  Index skip(Index i);
  Malformed finish(ParsedReading& reading);
  void add_malformed(Malformed reason);
  void fail(Malformed reason);

  const bool device_from_key_;
  const bool arrival_from_record_;
  const bool arrival_falls_back_;
  const MemberName device_name_;
  const MemberName time_name_;
  const MemberName metrics_name_;
  const MemberName arrival_name_;

  std::vector<char> buffer_;
  Arena arena_;
  JsonTokens tokens_;
  MetricReader metrics_;
  ParsedRecord record_;

  DeviceField key_device_;
  TimeField record_arrival_;

  // Of the reading that is being read.
  DeviceField device_;
  TimeField time_;
  TimeField arrival_;
  std::size_t depth_ = 0;
};

const ParsedRecord& JsonParser::Impl::parse(std::string_view value, std::optional<std::string_view> key,
                                            EpochMs record_time_ms) {
  record_.readings.clear();
  record_.metrics.clear();
  record_.rejected_metrics.fill(0);
  arena_.reset();
  value = trim(value);
  if (value.empty()) {
    fail(Malformed::kEmptyValue);
    return record_;
  }
  const std::string_view text = copy(value);
  if (device_from_key_) take_key(key);
  if (arrival_from_record_) take_record_time(record_time_ms);
  Malformed reason = read_text(text);
  if (reason != Malformed::kNone && reason != Malformed::kTooMany && is_line_by_line(text))
    reason = read_lines(text);
  if (reason != Malformed::kNone) fail(reason);
  return record_;
}

// Into memory of our own with the padding that is read beyond the end.
std::string_view JsonParser::Impl::copy(std::string_view value) {
  const std::size_t needed = value.size() + JsonTokens::kPadding;
  if (buffer_.size() < needed) buffer_.resize(std::max(needed, 2 * buffer_.size()));
  std::memcpy(buffer_.data(), value.data(), value.size());
  std::memset(buffer_.data() + value.size(), 0, JsonTokens::kPadding);
  return {buffer_.data(), value.size()};
}

void JsonParser::Impl::take_key(std::optional<std::string_view> key) {
  key_device_ = {};
  if (!key) return;
  if (!is_device(*key) || !JsonTokens::is_utf8(*key)) {
    key_device_.reason = Malformed::kBadDevice;
    return;
  }
  char* const id = arena_.allocate(key->size());
  std::memcpy(id, key->data(), key->size());
  key_device_ = {Malformed::kNone, {id, key->size()}};
}

void JsonParser::Impl::take_record_time(EpochMs ms) {
  record_arrival_ = {is_time(ms) ? Malformed::kNone : Malformed::kNoArrival, ms};
}

Malformed JsonParser::Impl::read_lines(std::string_view text) {
  for (std::string_view line = next_line(text); !line.empty(); line = next_line(text)) {
    const Malformed reason = read_text(line);
    if (reason == Malformed::kTooMany) return reason;
    if (reason != Malformed::kNone) add_malformed(reason);
  }
  return record_.readings.size() > kMaxReadingsPerRecord ? Malformed::kTooMany : Malformed::kNone;
}

// All documents of the text, or a reason and no trace of them.
Malformed JsonParser::Impl::read_text(std::string_view text) {
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

Malformed JsonParser::Impl::read_documents() {
  if (tokens_.size() == 1 && tokens_.is_sound_scalar(0)) {
    add_malformed(Malformed::kNotAnObject);
    return Malformed::kNone;
  }
  for (Index i = 0; i < tokens_.size();) {
    const char bracket = tokens_.first(i);
    if (bracket != '{' && bracket != '[') return Malformed::kBadJson;
    i = bracket == '{' ? read_reading(i) : read_array(i);
    if (i == kBroken) return Malformed::kBadJson;
    if (record_.readings.size() > kMaxReadingsPerRecord) return Malformed::kTooMany;
  }
  return Malformed::kNone;
}

Index JsonParser::Impl::read_array(Index i) {
  ++i;
  if (tokens_.first(i) == ']') {
    add_malformed(Malformed::kNotAnObject);
    return i + 1;
  }
  for (;;) {
    i = read_element(i);
    if (i == kBroken) return kBroken;
    const char end = tokens_.first(i++);
    if (end == ']') return i;
    if (end != ',') return kBroken;
  }
}

Index JsonParser::Impl::read_element(Index i) {
  if (tokens_.first(i) == '{') return read_reading(i);
  add_malformed(Malformed::kNotAnObject);
  return tokens_.skip(i).next;
}

Index JsonParser::Impl::read_reading(Index i) {
  device_ = device_from_key_ ? key_device_ : DeviceField{};
  arrival_ = arrival_from_record_ ? record_arrival_ : TimeField{};
  time_ = {};
  depth_ = 0;
  metrics_.clear();
  ++i;
  for (bool more = tokens_.first(i) != '}'; more;) {
    std::string_view name;
    if (!tokens_.name(i, name)) return kBroken;
    i = read_member(name, i + 2);
    if (i == kBroken) return kBroken;
    more = tokens_.first(i) == ',';
    if (more) ++i;
  }
  if (tokens_.first(i) != '}') return kBroken;
  ParsedReading& reading = record_.readings.emplace_back();
  const Malformed reason = finish(reading);
  if (reason != Malformed::kNone) reading = malformed(reason);
  return i + 1;
}

Index JsonParser::Impl::read_member(std::string_view name, Index i) {
  const std::uint64_t tag = name_tag(name);
  if (metrics_name_.is(name, tag)) {
    i = metrics_.read(i);
    depth_ = std::max(depth_, metrics_.depth());
    return i;
  }
  if (time_name_.is(name, tag)) return read_time(i, time_);
  if (!device_from_key_ && device_name_.is(name, tag)) return read_device(i);
  if (!arrival_from_record_ && arrival_name_.is(name, tag)) return read_time(i, arrival_);
  return skip(i);
}

Index JsonParser::Impl::read_device(Index i) {
  device_ = {Malformed::kBadDevice, {}};
  switch (tokens_.first(i)) {
    case '"':
      if (!tokens_.string(i, device_.id)) return kBroken;
      break;
    case 'n':
      device_.reason = Malformed::kNoDevice;
      return skip(i);
    default:
      if (tokens_.first(i) == '{' || tokens_.first(i) == '[') return skip(i);
      if (is_json_integer(tokens_.bytes(i))) device_.id = tokens_.bytes(i);
  }
  if (is_device(device_.id)) device_.reason = Malformed::kNone;
  return skip(i);
}

Index JsonParser::Impl::read_time(Index i, TimeField& field) {
  const char c = tokens_.first(i);
  if (c == '-' || (c >= '0' && c <= '9')) {
    const ParsedTime time = parse_epoch_ms(tokens_.bytes(i));
    field = {time.reason, time.ms};
    return time.reason == Malformed::kBadJson ? kBroken : i + 1;
  }
  field.reason = c == 'n' ? Malformed::kNoTime : Malformed::kBadTime;
  return skip(i);
}

Index JsonParser::Impl::skip(Index i) {
  const auto [next, depth] = tokens_.skip(i);
  depth_ = std::max(depth_, depth);
  return next;
}

Malformed JsonParser::Impl::finish(ParsedReading& reading) {
  constexpr std::size_t kOwnDepth = 1;
  if (kOwnDepth + depth_ > kMaxDepth) return Malformed::kTooDeep;
  if (device_.reason != Malformed::kNone) return device_.reason;
  if (time_.reason != Malformed::kNone) return time_.reason;
  if (arrival_falls_back_ && arrival_.reason == Malformed::kNoTime) arrival_ = time_;
  if (arrival_.reason != Malformed::kNone) return Malformed::kNoArrival;
  const std::size_t first_metric = record_.metrics.size();
  const Malformed reason = metrics_.collect(record_);
  reading.device = device_.id;
  reading.event_ms = time_.ms;
  reading.arrival_ms = arrival_.ms;
  reading.first_metric = static_cast<std::uint32_t>(first_metric);
  reading.metric_count = static_cast<std::uint32_t>(record_.metrics.size() - first_metric);
  return reason;
}

void JsonParser::Impl::add_malformed(Malformed reason) { record_.readings.push_back(malformed(reason)); }

// The whole record is one malformed reading.
void JsonParser::Impl::fail(Malformed reason) {
  record_.readings.clear();
  record_.metrics.clear();
  record_.rejected_metrics.fill(0);
  add_malformed(reason);
}

JsonParser::JsonParser(const ReadingShape& shape) : impl_(std::make_unique<Impl>(shape)) {}
JsonParser::~JsonParser() = default;

const ParsedRecord& JsonParser::parse(std::string_view value, std::optional<std::string_view> key,
                                      EpochMs record_time_ms) {
  return impl_->parse(value, key, record_time_ms);
}

}  // namespace hourfold
