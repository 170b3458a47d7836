#include "payload/explain.h"

#include <vector>

#include "core/field_source.h"
#include "core/reading_section.h"
#include "payload/device_parts.h"
#include "payload/explain_json.h"
#include "payload/explain_words.h"
#include "payload/field_options.h"
#include "payload/framed_parser.h"
#include "payload/plausible_time.h"
#include "payload/sample_kind.h"

namespace hourfold {
namespace {

std::optional<SampleReading> reading_at(const SamplePlace& place) {
  if (place.shape.format != PayloadFormat::kJson) return std::nullopt;
  std::vector<SampleReading> readings = sample_readings(*place.record.value, place.shape);
  if (readings.size() != place.count) return std::nullopt;
  return std::move(readings[place.index]);
}

std::string what_it_has(const std::optional<SampleReading>& reading) {
  if (!reading || !reading->element.is_object()) return "";
  if (reading->element.empty()) return " The reading is an empty object.";
  return " The reading has " + members_of(reading->element) + ".";
}

SampleLayer layer_of(const SampleReading& reading, const ReadingShape& shape) {
  SampleLayer layer;
  layer.readings.push_back(&reading.element);
  layer.body = shape.body;
  if (shape.body) layer.around.push_back(&reading.around);
  return layer;
}

std::string device_advice(const std::optional<SampleReading>& reading, const SamplePlace& place) {
  if (reading && has_pointers(place.shape.format)) {
    const auto best = device_options(layer_of(*reading, place.shape), place.record).front();
    const SampleJson* const found = value_at(*reading, best.sources.front());
    if (found != nullptr && best.sources.size() == 1)
      return " " + setting("device", best.sources.front()) + " would find " + shown(*found) + ".";
  }
  if (place.record.key)
    return " The record's key is " + shown(*place.record.key) + "; " + setting("device", "key") +
           " would take it.";
  return " Set reading.device to where it is" +
         std::string(has_pointers(place.shape.format) ? ", a JSON pointer, or to \"key\"." : ".");
}

std::string explain_device(const SamplePlace& place, bool missing) {
  const auto reading = reading_at(place);
  for (const std::string& source : place.shape.device) {
    const FieldSource::Kind kind = field_source(source).kind;
    if (kind == FieldSource::Kind::kKey && !place.record.key)
      return "The device should be in the record's key, and the sample has none: give it with --key.";
    if (kind == FieldSource::Kind::kHeader && missing && !reading)
      return "The device should be " + place_of(source) + ", which the sample lacks: give it with --header.";
    if (!reading) continue;
    const SampleJson* const found = value_at(*reading, source);
    const bool pointer = kind == FieldSource::Kind::kPointer || kind == FieldSource::Kind::kEnvelope;
    if (pointer && (found == nullptr || found->is_null()))
      return "No device " + place_of(source) + "." + what_it_has(reading) + device_advice(reading, place);
    if (pointer && !found->is_string() && !found->is_number_integer())
      return "What is " + place_of(source) + " is " + shown(*found) +
             ", and a device is a text or a whole number." + device_advice(reading, place);
    if (found != nullptr && found->is_string() && !is_device(found->get<std::string>()))
      return "The device " + place_of(source) + " is " + shown(*found) +
             "; it must have 1 to 256 bytes and no NUL.";
  }
  return (missing ? "No device " : "A device that is none ") + place_of(place.shape.device.front()) + "." +
         device_advice(reading, place);
}

// What would read this value as a time of 2000 to 2100.
std::string time_advice(const SampleJson& value, const ReadingShape& shape) {
  if (value.is_number()) {
    const auto unit = plausible_unit(value.get<double>());
    return unit ? " " + setting("time_unit", std::string(to_string(*unit))) + " reads it." : "";
  }
  const auto time = value.is_string() ? plausible_text(value.get<std::string>()) : std::nullopt;
  if (!time) return "";
  std::string advice;
  if (time->unit != shape.time_unit) advice = setting("time_unit", std::string(to_string(time->unit)));
  if (time->unit != TimeUnit::kRfc3339 && !shape.time_strings)
    advice += (advice.empty() ? "" : " with ") + std::string("\"time_strings\": true");
  if (!time->names_zone && !shape.time_zone_minutes)
    advice += (advice.empty() ? "" : " with ") + setting("time_zone", "Z") +
              " (or an offset such as \"+05:30\": it names no zone)";
  return advice.empty() ? "" : " " + advice + " reads it.";
}

std::string explain_missing_time(const SamplePlace& place) {
  const auto reading = reading_at(place);
  std::string text = "No event time " + place_of(place.shape.time) + "." + what_it_has(reading);
  if (!reading || !has_pointers(place.shape.format)) return text;
  const TimeOption best = time_options(layer_of(*reading, place.shape)).front();
  if (const SampleJson* found = value_at(*reading, best.source); found != nullptr)
    return text + " " + setting("time", best.source) + " would find " + shown(*found) + "." +
           (best.unit == place.shape.time_unit ? "" : time_advice(*found, place.shape));
  return text + " For devices without a clock, " + setting("time", "record") +
         " takes the record's timestamp.";
}

std::string expected_time(const ReadingShape& shape) {
  switch (shape.time_unit) {
    case TimeUnit::kSeconds:
      return "a number of seconds since 1970";
    case TimeUnit::kMs:
      return "a number of milliseconds since 1970";
    case TimeUnit::kUs:
      return "a number of microseconds since 1970";
    case TimeUnit::kNs:
      return "a number of nanoseconds since 1970";
    case TimeUnit::kRfc3339:
      return "a text as RFC 3339 has it, with its zone (2026-01-01T00:00:00Z)";
    case TimeUnit::kAuto:
      return "a number or a text that tells its unit";
  }
  return "";
}

std::string explain_bad_time(const SamplePlace& place) {
  const auto reading = reading_at(place);
  const SampleJson* const found = reading ? value_at(*reading, place.shape.time) : nullptr;
  const std::string expected = expected_time(place.shape) + ", of the years 1970 to 9999";
  if (found == nullptr)
    return "The event time " + place_of(place.shape.time) + " is not " + expected +
           " (reading.time_unit is \"" + std::string(to_string(place.shape.time_unit)) + "\").";
  return "The event time " + place_of(place.shape.time) + " is " + shown(*found) + ", and should be " +
         expected + " (reading.time_unit is \"" + std::string(to_string(place.shape.time_unit)) + "\")." +
         time_advice(*found, place.shape);
}

std::string metrics_advice(const SampleReading& reading, const SamplePlace& place) {
  const auto options = metrics_options(layer_of(reading, place.shape));
  if (options.empty()) return " Nothing in it looks like a measurement.";
  const MetricsOption& best = options.front();
  if (best.metric)
    return " It looks like one metric a reading: " + setting("metric", *best.metric) + ", " +
           setting("value", best.value) + ".";
  return " " + setting("metrics", best.metrics) +
         (best.metrics.empty() ? " takes the numbers of the reading itself." : " would find some.");
}

std::string explain_no_metrics(const SamplePlace& place) {
  const auto reading = reading_at(place);
  if (!has_pointers(place.shape.format) || !reading || !reading->element.is_object())
    return "There are no metrics in it.";
  if (place.shape.metric)
    return "No metric: its name should be " + place_of(*place.shape.metric) + " and its value " +
           place_of(place.shape.value) + "." + what_it_has(reading) + metrics_advice(*reading, place);
  const SampleJson* const found = at_pointer(reading->element, place.shape.metrics);
  const std::string where = "at " + place.shape.metrics;
  const std::string what = found == nullptr
                               ? "No metrics " + where + "."
                               : "What is " + where + " is " + shown(*found) + ", and metrics are an object.";
  return what + what_it_has(reading) + metrics_advice(*reading, place);
}

std::string explain_body(const SamplePlace& place) {
  std::string text =
      "reading.body is \"" + *place.shape.body + "\", and there is no object, list or document in a text.";
  for (const SampleJson& element : sample_elements(sample_documents(*place.record.value))) {
    if (element.is_object()) return text + " The document has " + members_of(element) + ".";
  }
  return text;
}

std::string explain_unframed(const SamplePlace& place) {
  const auto id = framed_schema_id(*place.record.value);
  return "The record does not begin with a zero byte and a schema's id" +
         std::string(id ? " as it should" : "") + ". Without a schema registry's serializer leave out " +
         setting("framing", "confluent") + ".";
}

std::string explain_framed(const SamplePlace& place) {
  const auto id = framed_schema_id(*place.record.value);
  return "The record begins with a schema registry's framing" +
         (id ? " (schema " + std::to_string(*id) + ")" : std::string()) + ": " +
         setting("framing", "confluent") + " skips it; if JSON does not follow but Avro, " +
         setting("format", "avro") + " belongs to it.";
}

}  // namespace

std::string explain_malformed(Malformed reason, const SamplePlace& place) {
  const bool is_broken = reason == Malformed::kBadJson || reason == Malformed::kBadUtf8;
  if (const auto foreign = foreign_sample(*place.record.value); is_broken && foreign)
    return "This is " + foreign->what + ". " + foreign->advice;
  switch (reason) {
    case Malformed::kEmptyValue:
      return "The record is empty, or nothing but white space.";
    case Malformed::kBadUtf8:
      return "There are bytes in it that are no UTF-8: " + bad_utf8_place(*place.record.value) +
             " Let the producer encode its text as UTF-8, not as Latin-1 or a code page.";
    case Malformed::kBadJson:
      return broken_json_place(place);
    case Malformed::kTooDeep:
      return "Objects and lists lie deeper in one another than 64 levels.";
    case Malformed::kTooMany:
      return "More than 100,000 readings in a record, or 4,096 metrics in a reading: let the producer send "
             "several records. (If each line of the sample is a record: --lines.)";
    case Malformed::kNotAnObject:
      return not_an_object(place);
    case Malformed::kNoDevice:
      return explain_device(place, true);
    case Malformed::kBadDevice:
      return explain_device(place, false);
    case Malformed::kNoTime:
      return explain_missing_time(place);
    case Malformed::kBadTime:
      return explain_bad_time(place);
    case Malformed::kNoMetrics:
      return explain_no_metrics(place);
    case Malformed::kNoUsableMetric:
      return "There are metrics, and none of them is a number.";
    case Malformed::kNoArrival:
      return "No arrival " + place_of(place.shape.arrival) +
             "; with reading.arrival \"record\", the default, it is the "
             "record's timestamp.";
    case Malformed::kFramed:
      return explain_framed(place);
    case Malformed::kNoFraming:
      return explain_unframed(place);
    case Malformed::kUnknownSchema:
      return "The registry, or reading.schemas, has no schema of the id in the framing.";
    case Malformed::kBadAvro:
      return "The bytes are not what the schema says: another schema wrote them, or they have a framing that "
             "reading.framing does not name.";
    case Malformed::kNoBody:
      return explain_body(place);
    case Malformed::kBadSenml:
      return "A field of SenML (RFC 8428) has a value that it cannot have, or one is there that must be "
             "understood and is not (its name ends in _).";
    case Malformed::kBadLine:
      return "The line is not measurement[,tag=value...] field=value[,field=value...] [time].";
    case Malformed::kCompressed:
      return "The value is compressed. Let the producer send it as it is and set its compression.type: then "
             "Kafka compresses, and every client undoes it.";
    case Malformed::kNone:
    case Malformed::kCount:
      break;
  }
  return "";
}

std::string explain_time(EpochMs event_ms, const SamplePlace& place) {
  if (is_plausible(event_ms)) return "";
  std::string text = "An event time outside of 2000 to 2100: is " +
                     setting("time_unit", std::string(to_string(place.shape.time_unit))) + " right?";
  const auto reading = reading_at(place);
  const SampleJson* const found = reading ? value_at(*reading, place.shape.time) : nullptr;
  if (found == nullptr) return text;
  return text + " What is " + place_of(place.shape.time) + " is " + shown(*found) + "." +
         time_advice(*found, place.shape);
}

}  // namespace hourfold
