#include "payload/json_parser.h"

#include "payload/reading_fields.h"
#include "payload/record_text.h"
#include "payload/record_times.h"

namespace hourfold {
namespace {

using Kind = FieldSource::Kind;
using Role = PointerTree::Role;

bool is_pointer_source(const FieldSource& source) { return source.kind == Kind::kPointer; }

PointerTree pointers_of(const ReadingShape& shape) {
  PointerTree tree;
  // The metrics first: they are looked for first.
  if (shape.metric) {
    tree.add(*shape.metric, Role::kMetric);
    tree.add(shape.value, Role::kValue);
  } else {
    tree.add(shape.metrics, Role::kMetrics);
  }
  const FieldSource time = field_source(shape.time);
  if (is_pointer_source(time)) tree.add(time.name, Role::kTime);
  for (std::size_t part = 0; part < shape.device.size(); ++part) {
    const FieldSource device = field_source(shape.device[part]);
    if (is_pointer_source(device)) tree.add(device.name, Role::kDevice, part);
  }
  const FieldSource arrival = field_source(shape.arrival);
  if (is_pointer_source(arrival)) tree.add(arrival.name, Role::kArrival);
  return tree;
}

}  // namespace

JsonParser::JsonParser(const ReadingShape& shape, bool learns)
    : one_metric_(shape.metric.has_value()),
      arrival_falls_back_(shape.arrival_falls_back_to_event),
      time_source_(field_source(shape.time)),
      arrival_source_(field_source(shape.arrival)),
      device_(shape, arena_),
      metrics_(tokens_, arena_, shape),
      fields_(shape, pointers_of(shape), tokens_, device_, &metrics_),
      learns_(learns && shape.selection.empty() && device_.sources().size() == 1) {
  if (shape.format == PayloadFormat::kAvro) tokens_.allow_not_finite();
}

const ParsedRecord& JsonParser::parse(const RecordView& record) {
  if (!learns_) return JsonDocuments::parse(record);
  if (parse_by_template(record)) return record_;
  JsonDocuments::parse(record);
  if (!whole_text().empty() && templates_.may_learn())
    templates_.learned(JsonTemplate::learn(whole_text(), tokens_, fields_.pointers(), record_));
  return record_;
}

bool JsonParser::parse_by_template(const RecordView& record) {
  JsonTemplate::Fields known;
  if (!templates_.read(trim_record(record.value), known, record_.metrics)) return false;
  record_.readings.clear();
  record_.rejected_metrics.fill(0);
  arena_.reset();
  begin(record);
  device_.next_reading();
  fields_.time = known.time ? time_of(*known.time, fields_.time_format()) : shared_time_;
  fields_.arrival = known.arrival ? time_of(*known.arrival, fields_.arrival_format()) : shared_arrival_;
  if (known.device)
    device_.part(0) = {is_device(*known.device) ? Malformed::kNone : Malformed::kBadDevice, *known.device};
  ParsedReading& reading = record_.readings.emplace_back();
  reading.malformed =
      take_fields(reading, device_.whole(), fields_.time, fields_.arrival, arrival_falls_back_);
  if (reading.malformed == Malformed::kNone) {
    reading.metric_count = static_cast<std::uint32_t>(record_.metrics.size());
  } else {
    fail_record(record_, reading.malformed);
  }
  return true;
}

TimeField JsonParser::time_of(const JsonTemplate::Time& time, const TimeFormat& format) const {
  return time.is_text ? format.text(time.token) : format.whole(time.whole, time.token);
}

void JsonParser::begin(const RecordView& record) {
  device_.take_record(record);
  metrics_.next_record();
  shared_time_ = record_time(time_source_, record, &EnvelopeFields::time);
  shared_arrival_ = record_time(arrival_source_, record, &EnvelopeFields::arrival);
}

JsonParser::Index JsonParser::read_object(Index i) {
  device_.next_reading();
  metrics_.clear();
  fields_.time = shared_time_;
  fields_.arrival = shared_arrival_;
  i = fields_.read(i);
  if (i == kBroken) return kBroken;
  ParsedReading& reading = record_.readings.emplace_back();
  const Malformed reason = finish(reading);
  if (reason != Malformed::kNone) reading = malformed_reading(reason);
  return i;
}

Malformed JsonParser::finish(ParsedReading& reading) {
  constexpr std::size_t kOwnDepth = 1;
  if (kOwnDepth + fields_.depth > kMaxDepth) return Malformed::kTooDeep;
  if (const Malformed reason =
          take_fields(reading, device_.whole(), fields_.time, fields_.arrival, arrival_falls_back_);
      reason != Malformed::kNone)
    return reason;
  if (one_metric_) {
    const Malformed reason = read_one_metric();
    if (reason != Malformed::kNone) return reason;
  }
  return take_metrics(reading, metrics_, record_);
}

// Its name may come after its value, so both are looked at when all has been read.
Malformed JsonParser::read_one_metric() {
  if (fields_.metric_name.data() == nullptr || fields_.value == kBroken) return Malformed::kNoMetrics;
  metrics_.read_named(fields_.metric_name, fields_.value);
  return Malformed::kNone;
}

}  // namespace hourfold
