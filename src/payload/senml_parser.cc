#include "payload/senml_parser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "payload/json_number.h"
#include "payload/reading_fields.h"
#include "payload/record_text.h"
#include "payload/record_times.h"

namespace hourfold {
namespace {

constexpr std::int64_t kRelativeBelow = 1LL << 28;  // RFC 8428, section 4.5.3
constexpr double kVersion = 10;
// With what name_tag() reads beyond its end.
constexpr char kOnlyMetricBytes[16] = "value";
constexpr std::string_view kOnlyMetric{kOnlyMetricBytes, 5};
constexpr std::string_view kSumSuffix = ".sum";
constexpr std::string_view kSeparators = "/:._-";

}  // namespace

SenmlParser::SenmlParser(const ReadingShape& shape)
    : arrival_falls_back_(shape.arrival_falls_back_to_event),
      arrival_source_(field_source(shape.arrival)),
      device_(shape, arena_),
      metrics_(shape) {}

void SenmlParser::begin(const RecordView& record) {
  device_.take_record(record);
  metrics_.next_record();
  record_time_ms_ = record.timestamp_ms;
  arrival_ = record_time(arrival_source_, record, &EnvelopeFields::arrival);
  open_.reset();
}

SenmlParser::Label SenmlParser::label_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Label>, 15> kLabels = {{{"bn", Label::kBaseName},
                                                                                  {"bt", Label::kBaseTime},
                                                                                  {"bv", Label::kBaseValue},
                                                                                  {"bs", Label::kBaseSum},
                                                                                  {"bver", Label::kVersion},
                                                                                  {"n", Label::kName},
                                                                                  {"t", Label::kTime},
                                                                                  {"v", Label::kValue},
                                                                                  {"vs", Label::kString},
                                                                                  {"vb", Label::kBoolean},
                                                                                  {"vd", Label::kData},
                                                                                  {"s", Label::kSum},
                                                                                  {"u", Label::kIgnored},
                                                                                  {"bu", Label::kIgnored},
                                                                                  {"ut", Label::kIgnored}}};
  const auto* const found =
      std::find_if(kLabels.begin(), kLabels.end(), [name](const auto& label) { return label.first == name; });
  if (found != kLabels.end()) return found->second;
  return name.ends_with('_') ? Label::kMustUnderstand : Label::kIgnored;
}

// Alone it is a pack of one record.
SenmlParser::Index SenmlParser::read_object(Index i) {
  if (in_pack_) return read_entry(i);
  begin_pack();
  i = read_entry(i);
  if (i != kBroken) finish_reading();
  return i;
}

SenmlParser::Index SenmlParser::read_array(Index i) {
  begin_pack();
  in_pack_ = true;
  i = JsonDocuments::read_array(i);
  in_pack_ = false;
  if (i != kBroken) finish_reading();
  return i;
}

void SenmlParser::begin_pack() {
  base_ = {};
  open_.reset();
  metrics_.clear();
}

SenmlParser::Index SenmlParser::read_entry(Index i) {
  entry_ = {};
  // Values come first or last: what they are added to is known at the end.
  std::size_t depth = 0;
  i = tokens_.each_member(i, [&](std::string_view name, Index value) {
    const auto [next, inside] = tokens_.skip_metrics(value);
    depth = std::max(depth, inside);
    if (next != kBroken) read_field(label_of(name), value);
    return next;
  });
  if (i == kBroken) return kBroken;
  constexpr std::size_t kOwnDepth = 2;  // the pack and the record
  if (depth + kOwnDepth > kMaxDepth) entry_.reason = Malformed::kTooDeep;
  apply_entry();
  return i;
}

void SenmlParser::read_field(Label label, Index i) {
  switch (label) {
    case Label::kBaseName:
      if (!tokens_.string(i, base_.name)) base_.broken = true;
      break;
    case Label::kBaseTime:
      if (!take_seconds(i, base_.time)) base_.broken = true;
      break;
    case Label::kBaseValue:
      if (!take_double(i, base_.value)) base_.broken = true;
      break;
    case Label::kBaseSum:
      if (!take_double(i, base_.sum)) base_.broken = true;
      break;
    case Label::kVersion:
      if (double version = 0; !take_double(i, version) || version > kVersion) base_.broken = true;
      break;
    case Label::kName:
      if (!tokens_.string(i, entry_.name)) entry_.reason = Malformed::kBadSenml;
      return;
    case Label::kTime:
      if (!take_seconds(i, entry_.time)) entry_.reason = Malformed::kBadTime;
      return;
    case Label::kMustUnderstand:
      entry_.reason = Malformed::kBadSenml;
      return;
    case Label::kSum:
      entry_.has_sum = true;
      entry_.sum = {};
      take_number(i, entry_.sum);
      return;
    case Label::kIgnored:
      return;
    default:
      read_value(label, i);
      return;
  }
  entry_.has_base = true;
}

void SenmlParser::read_value(Label label, Index i) {
  entry_.values |= 1U << static_cast<unsigned>(label);
  entry_.is_number = label == Label::kValue;
  entry_.value = {};
  const char first = tokens_.first(i);
  if (label == Label::kValue) {
    take_number(i, entry_.value);
  } else if (label == Label::kBoolean && (first == 't' || first == 'f')) {
    metrics_.take_boolean(first == 't', entry_.value);
  } else if (label == Label::kBoolean) {
    entry_.reason = Malformed::kBadSenml;
  } else {
    entry_.value.take(MetricReject::kString);
  }
}

// Of a number, or why there is none.
void SenmlParser::take_number(Index i, MetricList::Entry& out) {
  const char first = tokens_.first(i);
  std::string_view text;
  if (first == '"' && tokens_.string(i, text)) return metrics_.take_text(text, out);
  if (first == 'n') return;
  if (first == '{' || first == '[') return out.take(MetricReject::kArray);
  if (first == 't' || first == 'f') return metrics_.take_boolean(first == 't', out);
  if (!MetricList::take_number(tokens_.bytes(i), out)) out.take(MetricReject::kNotFinite);
}

bool SenmlParser::take_seconds(Index i, Seconds& out) {
  const auto seconds = parse_seconds(tokens_.bytes(i));
  if (seconds) out = *seconds;
  return seconds.has_value();
}

bool SenmlParser::take_double(Index i, double& out) {
  const ParsedDouble number = parse_json_double(tokens_.bytes(i));
  out = number.value;
  return number.kind == NumberKind::kFinite;
}

void SenmlParser::apply_entry() {
  const bool several = (entry_.values & (entry_.values - 1)) != 0;
  const bool nothing = entry_.values == 0 && !entry_.has_sum;
  if (entry_.reason == Malformed::kNone && (base_.broken || several)) entry_.reason = Malformed::kBadSenml;
  if (entry_.reason == Malformed::kNone && nothing) {
    if (entry_.has_base) return;
    entry_.reason = Malformed::kNoMetrics;
  }
  const Names names = split_name();
  device_.next_reading();
  device_.take_name({is_device(names.device) ? Malformed::kNone : Malformed::kBadDevice, names.device});
  if (base_.name.empty() && entry_.name.empty()) device_.take_name({});
  const std::optional<EpochMs> time = resolved_time();
  const TimeField when = time ? TimeField{Malformed::kNone, *time} : TimeField{Malformed::kBadTime, 0};
  ParsedReading reading;
  if (entry_.reason == Malformed::kNone)
    entry_.reason = take_fields(reading, device_.whole(), when, arrival_, arrival_falls_back_);
  if (entry_.reason != Malformed::kNone) {
    finish_reading();
    add_malformed(entry_.reason);
    return;
  }
  if (!open_ || open_->device != reading.device || open_->event_ms != reading.event_ms) {
    finish_reading();
    open_ = reading;
  }
  if (entry_.values != 0) add_metric(names.metric, entry_.value, entry_.is_number ? base_.value : 0);
  if (entry_.has_sum) add_metric(concatenated(names.metric, kSumSuffix), entry_.sum, base_.sum);
}

SenmlParser::Names SenmlParser::split_name() const {
  if (base_.name.empty() || entry_.name.empty()) {
    const std::string_view whole = base_.name.empty() ? entry_.name : base_.name;
    const std::size_t slash = whole.rfind('/');
    if (slash == std::string_view::npos || slash + 1 == whole.size())
      return {whole.substr(0, slash), kOnlyMetric};
    return {whole.substr(0, slash), whole.substr(slash + 1)};
  }
  std::string_view device = base_.name;
  if (kSeparators.find(device.back()) != std::string_view::npos) device.remove_suffix(1);
  return {device, entry_.name};
}

std::optional<EpochMs> SenmlParser::resolved_time() const {
  constexpr Seconds kEnd{kMaxEventMs / 1000 + 1, 0};
  Seconds time = base_.time + entry_.time;
  EpochMs ms = 0;
  if (time.whole < kRelativeBelow) {
    if (!is_event_time(record_time_ms_) || time.whole < -kEnd.whole) return std::nullopt;
    ms = record_time_ms_ + time.ms();
  } else if (time.whole < kEnd.whole) {
    ms = time.ms();
  } else {
    return std::nullopt;
  }
  return is_event_time(ms) ? std::optional(ms) : std::nullopt;
}

void SenmlParser::add_metric(std::string_view name, const MetricList::Entry& value, double base) {
  MetricList::Entry& entry = metrics_.add(name);
  entry.value = value.value + base;
  entry.fate = value.fate;
  entry.reject = value.reject;
  if (entry.fate == MetricList::Fate::kUsable && !std::isfinite(entry.value))
    entry.take(MetricReject::kOutOfRange);
  if (entry.fate != MetricList::Fate::kNull && !MetricList::is_name(name, true))
    entry.take(MetricReject::kBadName);
}

std::string_view SenmlParser::concatenated(std::string_view a, std::string_view b) {
  char* const text = arena_.allocate(a.size() + b.size());
  std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), text));
  return {text, a.size() + b.size()};
}

void SenmlParser::finish_reading() {
  if (!open_) return;
  ParsedReading& reading = record_.readings.emplace_back(*open_);
  const Malformed reason = take_metrics(reading, metrics_, record_);
  if (reason != Malformed::kNone) reading = malformed_reading(reason);
  metrics_.clear();
  open_.reset();
}

}  // namespace hourfold
