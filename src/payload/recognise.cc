#include "payload/recognise.h"

#include <algorithm>
#include <optional>

#include "core/field_source.h"
#include "payload/explain_words.h"
#include "payload/field_options.h"
#include "payload/field_words.h"
#include "payload/framed_parser.h"
#include "payload/payload_parser.h"
#include "payload/plausible_time.h"
#include "payload/sample_outline.h"

namespace hourfold {
namespace {

struct Look {
  const char* pointer;
  const char* name;
};

constexpr Look kLooks[] = {
    {"/deviceInfo/devEui", "ChirpStack"},
    {"/end_device_ids/device_id", "The Things Stack (TTN)"},
    {"/state/reported", "an AWS IoT shadow"},
    {"/systemProperties/iothub-connection-device-id", "Azure IoT Hub"},
    {"/SystemProperties/connectionDeviceId", "Azure IoT Hub"},
    {"/specversion", "CloudEvents"},
};

std::string look_of_json(const ReadingShape& shape, const SampleReading* first) {
  if (first != nullptr) {
    for (const Look& look : kLooks) {
      if (at_pointer(first->element, look.pointer) != nullptr ||
          at_pointer(first->around, look.pointer) != nullptr)
        return look.name;
    }
  }
  if (shape == ReadingShape{}) return "Hourfold's own JSON";
  if (shape.body == "") return "JSON in a text of JSON";
  if (shape.body && first != nullptr) {
    const SampleJson* const body = at_pointer(first->around, *shape.body);
    const bool text = body != nullptr && body->is_string();
    return text ? "JSON in a text inside of JSON" : "JSON with a list of readings inside";
  }
  if (shape.metric) return "JSON with one metric a message";
  if (shape.metrics.empty()) return "flat JSON";
  return shape.metrics == ReadingShape{}.metrics ? "JSON" : "nested JSON";
}

std::string looks_like(const ReadingShape& shape, const SampleReading* first) {
  const std::string framed =
      shape.framing == ValueFraming::kConfluent ? ", behind a schema registry's framing" : "";
  switch (shape.format) {
    case PayloadFormat::kSenml:
      return "SenML (RFC 8428)" + framed;
    case PayloadFormat::kInflux:
      return "InfluxDB line protocol" + framed;
    case PayloadFormat::kThingsboard:
      return "ThingsBoard telemetry of a device" + framed;
    case PayloadFormat::kThingsboardGateway:
      return "ThingsBoard telemetry of a gateway" + framed;
    case PayloadFormat::kAvro:
      return "Avro" + framed;
    case PayloadFormat::kJson:
      break;
  }
  return look_of_json(shape, first) + framed;
}

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : between) + text;
  return out;
}

// In a table: without the words that stand before it there.
std::string short_place(const std::string& source) {
  switch (field_source(source).kind) {
    case FieldSource::Kind::kEnvelope:
      return field_source(source).name + " around the readings";
    case FieldSource::Kind::kKey:
      return "the record's key";
    case FieldSource::Kind::kHeader:
      return "the header " + field_source(source).name;
    case FieldSource::Kind::kRecordTime:
      return "the record's timestamp";
    case FieldSource::Kind::kTag:
      return "the tag " + field_source(source).name;
    case FieldSource::Kind::kMeasurement:
      return "the measurement";
    case FieldSource::Kind::kName:
      return "as the payload names it";
    case FieldSource::Kind::kPointer:
      break;
  }
  return source;
}

const char* words_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return "seconds";
    case TimeUnit::kMs:
      return "milliseconds";
    case TimeUnit::kUs:
      return "microseconds";
    case TimeUnit::kNs:
      return "nanoseconds";
    case TimeUnit::kRfc3339:
      return "RFC 3339";
    case TimeUnit::kAuto:
      return "of several units";
  }
  return "";
}

// The first reading that the parser makes of the sample.
struct First {
  std::string device;
  std::vector<std::string> metrics;
  bool has_time;  // of its own, not the record's
};

std::optional<First> first_of(const ReadingShape& shape, const RecordCopy& record) {
  const auto parser = make_payload_parser(shape);
  RecordView view = view_of(record);
  if (!view.key) view.key = "?";
  view.timestamp_ms = kPlausibleFromMs;
  const ParsedRecord& parsed = parser->parse(view);
  for (const ParsedReading& reading : parsed.readings) {
    if (reading.malformed != Malformed::kNone) continue;
    First first{std::string(reading.device), {}, reading.event_ms != view.timestamp_ms};
    for (const Metric& metric : parsed.metrics_of(reading)) first.metrics.emplace_back(metric.name);
    return first;
  }
  return std::nullopt;
}

RecognisedField device_field(const ReadingShape& shape, const First& first, const RecordCopy& record) {
  RecognisedField field{"device", "", shown(first.device)};
  for (const std::string& source : shape.device)
    field.where += (field.where.empty() ? "" : " " + shape.device_separator + " ") + short_place(source);
  const bool unknown =
      !record.key && std::find(shape.device.begin(), shape.device.end(), "key") != shape.device.end();
  if (unknown) field.found = "no field looks like a device";
  return field;
}

std::optional<RecognisedField> time_field(const ReadingShape& shape, const SampleReading* first,
                                          bool has_time) {
  if (shape.format == PayloadFormat::kInflux)
    return has_time ? RecognisedField{"time", "at the end of the line", words_of(shape.time_unit)}
                    : RecognisedField{"time", "the record's timestamp", "the lines have none"};
  if (shape.format != PayloadFormat::kJson) return std::nullopt;
  RecognisedField field{"time", short_place(shape.time), ""};
  const SampleJson* const found = first == nullptr ? nullptr : value_at(*first, shape.time);
  if (found != nullptr) field.found = shown(*found) + ", " + words_of(shape.time_unit);
  if (shape.time == "record") field.found = "no field looks like a time of 2000 to 2100";
  return field;
}

RecognisedField metrics_field(const ReadingShape& shape, const First& first) {
  constexpr std::size_t kMost = 8;
  RecognisedField field{"metrics", shape.metrics.empty() ? "the reading itself" : shape.metrics, ""};
  if (shape.metric) field.where = *shape.metric + " with " + shape.value;
  if (shape.format == PayloadFormat::kInflux)
    field.where = "the fields";
  else if (shape.format != PayloadFormat::kJson)
    field.where = "as the format says";
  std::vector<std::string> names = first.metrics;
  const std::size_t all = names.size();
  if (all > kMost) names.resize(kMost);
  field.found = joined(names, ", ");
  if (all > kMost) field.found += " and " + std::to_string(all - kMost) + " more";
  return field;
}

// Numbers that may be worth a look and that the proposal leaves out.
std::string other_numbers(const ReadingShape& shape, const SampleReading& first) {
  if (shape.format != PayloadFormat::kJson || shape.metric || shape.metrics.empty()) return "";
  std::vector<std::string> names;
  const SampleOutline outline({&first.element});
  for (const OutlineField& field : outline.fields()) {
    const bool named = field.pointer == shape.time || field.pointer == shape.device.front();
    const bool measured = field.values.front()->is_number() && !is_bookkeeping(field.word) &&
                          device_points(field.word) == 0 && time_points(field.word) == 0;
    if (field.depth == 1 && measured && !named) names.push_back(field.name);
  }
  if (names.empty()) return "";
  return std::string(names.size() == 1 ? "A number" : "Numbers") + " outside of " + shape.metrics +
         (names.size() == 1 ? " is" : " are") + " left out: " + joined(names, ", ") +
         "; \"metrics\": \"\" takes the whole reading, by names such as " +
         joined(pointer_names(shape.metrics), ".") + ".NAME.";
}

// Another field that is nearly as likely.
std::string other_field(const Proposals& proposals, const SampleReading& first) {
  constexpr int kClose = 25;
  const Proposal& best = proposals.ranked.front();
  for (const Proposal& other : proposals.ranked) {
    ReadingShape same = other.shape;
    same.device = best.shape.device;
    if (same != best.shape || other.shape.device == best.shape.device || other.points + kClose < best.points)
      continue;
    const std::string& source = other.shape.device.front();
    const SampleJson* const found = value_at(first, source);
    if (other.shape.device.size() == 1 && found != nullptr)
      return "The device could also be " + shown(*found) + ": " + setting("device", source) + ".";
    if (source == "key") return "The device could also be the record's key: \"device\": \"key\".";
  }
  return "";
}

void add_notes(const Proposals& proposals, const SampleReading* first, const RecordCopy& record,
               std::vector<std::string>& notes) {
  const ReadingShape& shape = proposals.ranked.front().shape;
  const auto add = [&notes](std::string note) {
    if (!note.empty()) notes.push_back(std::move(note));
  };
  const bool from_key = std::find(shape.device.begin(), shape.device.end(), "key") != shape.device.end();
  if (from_key && !record.key)
    add("Nothing in the sample looks like a device, so it should be the record's key: try it with --key, or "
        "set "
        "reading.device.");
  if (shape.time == "record" && shape.format == PayloadFormat::kJson)
    add("The event time will be that of the record: fine for devices without a clock that send at once.");
  if (shape.time_zone_minutes && shape.format == PayloadFormat::kJson)
    add("The times name no zone, and \"Z\" takes them for UTC. If they are local: \"time_zone\": \"+02:00\", "
        "or "
        "whatever it is.");
  if (first != nullptr) {
    add(other_numbers(shape, *first));
    add(other_field(proposals, *first));
  }
}

}  // namespace

Recognised recognise(const Proposals& proposals, std::span<const RecordCopy> records) {
  Recognised out;
  const ReadingShape& shape = proposals.ranked.front().shape;
  const auto record =
      std::find_if(records.begin(), records.end(), [](const RecordCopy& r) { return r.value.has_value(); });
  if (proposals.ranked.front().needs_schemas) {
    out.looks_like = "Avro of schema " + std::to_string(framed_schema_id(*record->value).value_or(0)) +
                     ", behind a schema registry's framing";
    return out;
  }
  const std::vector<SampleReading> readings = sample_readings(*record->value, shape);
  const SampleReading* const first = readings.empty() ? nullptr : &readings.front();
  out.looks_like = looks_like(shape, first);
  if (const auto parsed = first_of(shape, *record)) {
    out.fields.push_back(device_field(shape, *parsed, *record));
    if (const auto time = time_field(shape, first, parsed->has_time)) out.fields.push_back(*time);
    out.fields.push_back(metrics_field(shape, *parsed));
  }
  if (shape.body && !shape.body->empty())
    out.fields.insert(out.fields.begin(), {"readings", *shape.body, ""});
  add_notes(proposals, first, *record, out.notes);
  return out;
}

}  // namespace hourfold
