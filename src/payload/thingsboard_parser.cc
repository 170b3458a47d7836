#include "payload/thingsboard_parser.h"

#include <algorithm>

#include "payload/reading_fields.h"
#include "payload/record_text.h"
#include "payload/record_times.h"

namespace hourfold {

ThingsboardParser::ThingsboardParser(const ReadingShape& shape)
    : of_gateway_(shape.format == PayloadFormat::kThingsboardGateway),
      arrival_falls_back_(shape.arrival_falls_back_to_event),
      arrival_source_(field_source(shape.arrival)),
      device_(shape, arena_),
      metrics_(tokens_, arena_, shape) {}

void ThingsboardParser::begin(const RecordView& record) {
  device_.take_record(record);
  metrics_.next_record();
  record_time_ = timestamp_of(record);
  arrival_ = record_time(arrival_source_, record, &EnvelopeFields::arrival);
}

ThingsboardParser::Index ThingsboardParser::read_object(Index i) {
  device_.next_reading();
  return of_gateway_ ? read_devices(i) : read_telemetry(i);
}

ThingsboardParser::Index ThingsboardParser::read_devices(Index i) {
  return tokens_.each_member(i, [this](std::string_view name, Index of_device) {
    device_.take_name({is_device(name) ? Malformed::kNone : Malformed::kBadDevice, name});
    return tokens_.first(of_device) == '['
               ? tokens_.each_element(of_device, [this](Index e) { return read_element(e); })
               : read_element(of_device);
  });
}

ThingsboardParser::Index ThingsboardParser::read_element(Index i) {
  if (tokens_.first(i) == '{') return read_telemetry(i);
  add_malformed(Malformed::kNotAnObject);
  return tokens_.skip(i).next;
}

// With both a time and values it says when; else all of it is values of now.
ThingsboardParser::Index ThingsboardParser::read_telemetry(Index i) {
  Index time = kBroken;
  Index values = kBroken;
  const Index next = find_members(i, time, values);
  if (next == kBroken) return kBroken;
  metrics_.clear();
  const bool dated = time != kBroken && values != kBroken;
  if (metrics_.read(dated ? values : i) == kBroken) return kBroken;
  ParsedReading& reading = record_.readings.emplace_back();
  const Malformed reason = finish(reading, dated ? time_at(time) : record_time_);
  if (reason != Malformed::kNone) reading = malformed_reading(reason);
  return next;
}

// Of equal names the last.
ThingsboardParser::Index ThingsboardParser::find_members(Index i, Index& time, Index& values) {
  return tokens_.each_member(i, [&](std::string_view name, Index value) {
    if (name == "ts") time = value;
    if (name == "values") values = value;
    return tokens_.skip_metrics(value).next;
  });
}

TimeField ThingsboardParser::time_at(Index i) {
  const char first = tokens_.first(i);
  std::string_view text;
  if (first == '"' && tokens_.string(i, text)) return time_format_.text(text);
  if (first == '-' || (first >= '0' && first <= '9')) return time_format_.number(tokens_.bytes(i));
  return {first == 'n' ? Malformed::kNoTime : Malformed::kBadTime, 0};
}

Malformed ThingsboardParser::finish(ParsedReading& reading, const TimeField& time) {
  constexpr std::size_t kAround = 4;  // the document, the device's array, the element, and its values
  if (metrics_.depth() + kAround > kMaxDepth) return Malformed::kTooDeep;
  const Malformed reason = take_fields(reading, device_.whole(), time, arrival_, arrival_falls_back_);
  return reason == Malformed::kNone ? take_metrics(reading, metrics_, record_) : reason;
}

}  // namespace hourfold
