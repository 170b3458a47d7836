#include "payload/json_parser.h"

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

JsonParser::JsonParser(const ReadingShape& shape)
    : one_metric_(shape.metric.has_value()),
      arrival_falls_back_(shape.arrival_falls_back_to_event),
      time_source_(field_source(shape.time)),
      arrival_source_(field_source(shape.arrival)),
      device_(shape, arena_),
      metrics_(tokens_, arena_, shape),
      fields_(shape, pointers_of(shape), tokens_, device_, &metrics_) {
  if (shape.format == PayloadFormat::kAvro) tokens_.allow_non_finite();
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
  const DeviceField device = device_.whole();
  if (device.reason != Malformed::kNone) return device.reason;
  if (fields_.time.reason != Malformed::kNone) return fields_.time.reason;
  if (arrival_falls_back_ && fields_.arrival.reason == Malformed::kNoTime) fields_.arrival = fields_.time;
  if (fields_.arrival.reason != Malformed::kNone) return Malformed::kNoArrival;
  if (one_metric_) {
    const Malformed reason = read_one_metric();
    if (reason != Malformed::kNone) return reason;
  }
  const std::size_t first_metric = record_.metrics.size();
  const Malformed reason = metrics_.collect(record_);
  reading.device = device.id;
  reading.event_ms = fields_.time.ms;
  reading.arrival_ms = fields_.arrival.ms;
  reading.first_metric = static_cast<std::uint32_t>(first_metric);
  reading.metric_count = static_cast<std::uint32_t>(record_.metrics.size() - first_metric);
  return reason;
}

// Its name may come after its value, so both are looked at when all has been read.
Malformed JsonParser::read_one_metric() {
  if (fields_.metric_name.data() == nullptr || fields_.value == kBroken) return Malformed::kNoMetrics;
  metrics_.read_named(fields_.metric_name, fields_.value);
  return Malformed::kNone;
}

}  // namespace hourfold
