#include "core/reading_section.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace hourfold {
namespace {

using Json = nlohmann::ordered_json;
using Members = std::vector<std::pair<std::string, Json>>;

std::string name_of_zone(int minutes) {
  if (minutes == 0) return "Z";
  char text[16];
  const int size = std::abs(minutes);
  std::snprintf(text, sizeof text, "%c%02d:%02d", minutes < 0 ? '-' : '+', size / 60 % 24, size % 60);
  return text;
}

// What a section has that names the format alone.
ReadingShape defaults_of(PayloadFormat format) {
  ReadingShape shape;
  shape.format = format;
  if (format == PayloadFormat::kThingsboard) shape.device = {"key"};
  if (format == PayloadFormat::kSenml || format == PayloadFormat::kThingsboardGateway)
    shape.device = {"name"};
  if (format == PayloadFormat::kInflux) {
    shape.device = {};
    shape.time_unit = TimeUnit::kNs;
  }
  return shape;
}

Json selection_json(const MetricSelection& selection) {
  Json out = Json::object();
  if (!selection.allow.empty()) out["allow"] = selection.allow;
  if (!selection.deny.empty()) out["deny"] = selection.deny;
  for (const MetricSelection::Conversion& conversion : selection.convert) {
    Json item = {{"metrics", conversion.metrics}};
    if (conversion.scale != 1) item["scale"] = conversion.scale;
    if (conversion.offset != 0) item["offset"] = conversion.offset;
    out["convert"].push_back(std::move(item));
  }
  for (const auto& [from, to] : selection.rename) out["rename"][from] = to;
  return out;
}

void add_time(const ReadingShape& shape, const ReadingShape& usual, Members& out) {
  if (shape.time != usual.time) out.emplace_back("time", shape.time);
  if (shape.time_unit != usual.time_unit) out.emplace_back("time_unit", to_string(shape.time_unit));
  if (shape.time_strings) out.emplace_back("time_strings", true);
  if (shape.time_zone_minutes) out.emplace_back("time_zone", name_of_zone(*shape.time_zone_minutes));
  if (shape.arrival != usual.arrival) out.emplace_back("arrival", shape.arrival);
  if (shape.arrival_unit != usual.arrival_unit)
    out.emplace_back("arrival_unit", to_string(shape.arrival_unit));
}

void add_metrics(const ReadingShape& shape, const ReadingShape& usual, Members& out) {
  if (!shape.metric && shape.metrics != usual.metrics) out.emplace_back("metrics", shape.metrics);
  if (shape.metric) out.emplace_back("metric", *shape.metric);
  if (shape.metric && shape.value != usual.value) out.emplace_back("value", shape.value);
  if (!shape.measurement_prefix) out.emplace_back("measurement_prefix", false);
  if (shape.numeric_strings) out.emplace_back("numeric_strings", true);
  if (shape.decimal_comma) out.emplace_back("decimal_comma", true);
  if (shape.booleans) out.emplace_back("booleans", true);
  if (!shape.selection.empty()) out.emplace_back("select", selection_json(shape.selection));
}

void add_schemas(const ReadingShape& shape, Members& out) {
  if (!shape.schema.empty()) out.emplace_back("schema", shape.schema);
  Json by_id;
  for (const auto& [id, schema] : shape.schemas) by_id[std::to_string(id)] = schema;
  if (!by_id.empty()) out.emplace_back("schemas", by_id);
  if (!shape.schema_registry.empty()) out.emplace_back("schema_registry", shape.schema_registry);
}

Members members_of(const ReadingShape& shape) {
  const ReadingShape usual = defaults_of(shape.format);
  Members out;
  if (shape.format != PayloadFormat::kJson) out.emplace_back("format", to_string(shape.format));
  if (shape.framing == ValueFraming::kConfluent) out.emplace_back("framing", "confluent");
  if (shape.body) out.emplace_back("body", *shape.body);
  if (shape.device != usual.device)
    out.emplace_back("device", shape.device.size() == 1 ? Json(shape.device.front()) : Json(shape.device));
  if (shape.device_separator != usual.device_separator)
    out.emplace_back("device_separator", shape.device_separator);
  add_time(shape, usual, out);
  add_metrics(shape, usual, out);
  add_schemas(shape, out);
  return out;
}

}  // namespace

std::string_view to_string(PayloadFormat format) {
  switch (format) {
    case PayloadFormat::kJson:
      return "json";
    case PayloadFormat::kSenml:
      return "senml";
    case PayloadFormat::kInflux:
      return "influx";
    case PayloadFormat::kThingsboard:
      return "thingsboard";
    case PayloadFormat::kThingsboardGateway:
      return "thingsboard_gateway";
    case PayloadFormat::kAvro:
      return "avro";
  }
  return "?";
}

std::string_view to_string(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return "s";
    case TimeUnit::kMs:
      return "ms";
    case TimeUnit::kUs:
      return "us";
    case TimeUnit::kNs:
      return "ns";
    case TimeUnit::kRfc3339:
      return "rfc3339";
    case TimeUnit::kAuto:
      return "auto";
  }
  return "?";
}

std::string reading_section(const ReadingShape& shape, SectionStyle style) {
  const bool lines = style == SectionStyle::kIndented;
  std::string out;
  for (const auto& [key, value] : members_of(shape)) {
    out += out.empty() ? (lines ? "{\n  " : "{") : (lines ? ",\n  " : ", ");
    // What is no UTF-8 has no place in a configuration: such a section reads back as another shape.
    out += Json(key).dump() + ": " + value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (out.empty()) return "{}";
  return out + (lines ? "\n}" : "}");
}

}  // namespace hourfold
