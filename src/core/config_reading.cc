#include "core/config_reading.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "core/field_source.h"

namespace hourfold {
namespace {

using Kind = FieldSource::Kind;
using Format = PayloadFormat;

constexpr std::size_t kMaxDeviceParts = 8;

bool has_names(Format format) { return format == Format::kSenml || format == Format::kThingsboardGateway; }

// What may stand where a source is expected, for messages.
struct SourceRules {
  std::set<Kind> kinds;
  std::string expectation;
};

SourceRules device_rules(const ReadingShape& shape) {
  SourceRules rules{{Kind::kKey, Kind::kHeader}, "\"key\", \"header:NAME\""};
  const auto also = [&rules](Kind kind, const char* text) {
    rules.kinds.insert(kind);
    rules.expectation = std::string(text) + ", " + rules.expectation;
  };
  if (has_pointers(shape.format)) also(Kind::kPointer, "a JSON pointer such as \"/device\"");
  if (has_names(shape.format)) also(Kind::kName, "\"name\"");
  if (shape.format == Format::kInflux) {
    also(Kind::kMeasurement, "\"measurement\"");
    also(Kind::kTag, "\"tag:NAME\"");
  }
  if (shape.body) also(Kind::kEnvelope, "\"envelope:/POINTER\"");
  return rules;
}

SourceRules time_rules(const ReadingShape& shape, const std::string& key) {
  SourceRules rules{{Kind::kRecordTime}, "\"record\""};
  if (has_pointers(shape.format)) {
    rules.kinds.insert(Kind::kPointer);
    rules.expectation = "a JSON pointer such as \"/" + key + "\", or " + rules.expectation;
  }
  if (shape.body) {
    rules.kinds.insert(Kind::kEnvelope);
    rules.expectation += ", or \"envelope:/POINTER\"";
  }
  return rules;
}

bool is_allowed(const std::string& text, const SourceRules& rules) {
  return is_field_source(text) && rules.kinds.contains(field_source(text).kind);
}

void read_source(ConfigSection& section, const std::string& key, const SourceRules& rules, std::string& out) {
  const auto text = section.text(key);
  if (!text) return;
  if (!is_allowed(*text, rules)) return section.expected(key, rules.expectation);
  out = *text;
}

void read_pointer(ConfigSection& section, const std::string& key, const std::string& expectation,
                  std::optional<std::string>& out) {
  const auto text = section.text(key);
  if (!text) return;
  if (!is_pointer(*text) || *text == "/") return section.expected(key, expectation);
  out = *text;
}

void read_device(ConfigSection& section, ReadingShape& shape) {
  const SourceRules rules = device_rules(shape);
  if (shape.format == Format::kThingsboard) shape.device = {"key"};
  if (has_names(shape.format)) shape.device = {"name"};
  if (const auto separator = section.text("device_separator")) shape.device_separator = *separator;
  if (!section.has("device")) {
    if (shape.format == Format::kInflux)
      section.problem("device", R"(is missing; name the tags that make up the device, as "tag:host")");
    return;
  }
  const auto parts = section.texts("device");
  const bool sound = parts && !parts->empty() && parts->size() <= kMaxDeviceParts &&
                     std::all_of(parts->begin(), parts->end(),
                                 [&rules](const std::string& part) { return is_allowed(part, rules); });
  if (!sound) return section.expected("device", rules.expectation + ", or a list of up to 8 of them");
  shape.device = *parts;
}

const std::vector<std::pair<std::string_view, TimeUnit>> kTimeUnits = {
    {"ms", TimeUnit::kMs}, {"s", TimeUnit::kSeconds},       {"us", TimeUnit::kUs},
    {"ns", TimeUnit::kNs}, {"rfc3339", TimeUnit::kRfc3339}, {"auto", TimeUnit::kAuto}};

// "Z", "+05:30"
std::optional<int> zone_minutes(std::string_view text) {
  if (text == "Z") return 0;
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9' ? text[i] - '0' : 100; };
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const int hours = digit(1) * 10 + digit(2);
  const int minutes = digit(4) * 10 + digit(5);
  if (hours > 23 || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

void read_times(ConfigSection& section, ReadingShape& shape) {
  read_source(section, "time", time_rules(shape, "ts"), shape.time);
  if (shape.format == Format::kInflux) {
    shape.time_unit = TimeUnit::kNs;
    section.choice<TimeUnit>("time_unit", {kTimeUnits.begin(), kTimeUnits.begin() + 4}, shape.time_unit);
  } else {
    section.choice<TimeUnit>("time_unit", kTimeUnits, shape.time_unit);
  }
  section.flag("time_strings", shape.time_strings);
  if (const auto zone = section.text("time_zone")) {
    shape.time_zone_minutes = zone_minutes(*zone);
    if (!shape.time_zone_minutes) section.expected("time_zone", R"("Z" or an offset such as "+05:30")");
  }
  read_source(section, "arrival", time_rules(shape, "arrival_ts"), shape.arrival);
  section.choice<TimeUnit>("arrival_unit", kTimeUnits, shape.arrival_unit);
}

void read_metrics(ConfigSection& section, ReadingShape& shape) {
  std::optional<std::string> metrics;
  std::optional<std::string> value;
  read_pointer(section, "metrics", R"(a JSON pointer such as "/metrics", or "" for the reading itself)",
               metrics);
  read_pointer(section, "metric", R"(a JSON pointer such as "/metric")", shape.metric);
  read_pointer(section, "value", R"(a JSON pointer such as "/value")", value);
  if (metrics) shape.metrics = *metrics;
  if (value) shape.value = *value;
  if (value && !shape.metric)
    section.problem("value", "is where the one metric of a reading has its value; name reading.metric, too");
  if (metrics && shape.metric)
    section.problem("metrics", "and reading.metric exclude each other: many metrics a reading, or one");
  section.flag("numeric_strings", shape.numeric_strings);
  section.flag("decimal_comma", shape.decimal_comma);
  if (shape.decimal_comma && !shape.numeric_strings)
    section.problem("decimal_comma", "is about numbers in strings; set reading.numeric_strings, too");
  section.flag("booleans", shape.booleans);
}

bool is_metric_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxMetricNameBytes &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void read_globs(ConfigSection& section, const std::string& key, std::vector<std::string>& out) {
  if (!section.has(key)) return;
  const auto list = section.texts(key);
  if (!list || std::any_of(list->begin(), list->end(), [](const std::string& glob) { return glob.empty(); }))
    return section.expected(key, R"(a list of names and patterns, as ["temp_*","batt_v"])");
  out = *list;
}

std::optional<double> finite_number(const nlohmann::json& object, const char* key, double otherwise) {
  if (!object.contains(key)) return otherwise;
  if (!object[key].is_number() || !std::isfinite(object[key].get<double>())) return std::nullopt;
  return object[key].get<double>();
}

std::optional<MetricSelection::Conversion> conversion_of(const nlohmann::json& item) {
  if (!item.is_object() || !item.contains("metrics") || !item["metrics"].is_string()) return std::nullopt;
  for (const auto& member : item.items()) {
    if (member.key() != "metrics" && member.key() != "scale" && member.key() != "offset") return std::nullopt;
  }
  const auto scale = finite_number(item, "scale", 1);
  const auto offset = finite_number(item, "offset", 0);
  if (!scale || *scale == 0 || !offset || item["metrics"].get<std::string>().empty()) return std::nullopt;
  return MetricSelection::Conversion{item["metrics"].get<std::string>(), *scale, *offset};
}

void read_conversions(ConfigSection& section, std::vector<MetricSelection::Conversion>& out) {
  const nlohmann::json* list = section.value("convert");
  if (list == nullptr) return;
  const auto refuse = [&section] {
    section.expected("convert", R"(a list as [{"metrics":"temp_*","scale":0.01,"offset":-40}], scale not 0)");
  };
  if (!list->is_array()) return refuse();
  for (const auto& item : *list) {
    const auto conversion = conversion_of(item);
    if (!conversion) return refuse();
    out.push_back(*conversion);
  }
}

void read_renames(ConfigSection& section, std::map<std::string, std::string>& out) {
  const nlohmann::json* renames = section.value("rename");
  if (renames == nullptr) return;
  std::set<std::string> targets;
  bool sound = renames->is_object();
  if (sound) {
    for (const auto& item : renames->items()) {
      sound &= item.value().is_string() && is_metric_name(item.value().get<std::string>()) &&
               targets.insert(item.value().get<std::string>()).second;
      if (sound) out[item.key()] = item.value().get<std::string>();
    }
  }
  if (!sound)
    section.expected("rename",
                     R"(an object of old and new names, as {"t":"temp_c"}, all new ones different)");
}

void read_schemas(ConfigSection& section, ReadingShape& shape) {
  section.document_text("schema", shape.schema);
  section.filled_text("schema_registry", shape.schema_registry);
  ConfigSection by_id = section.section("schemas");
  if (const nlohmann::json* all = section.value("schemas"); all != nullptr && all->is_object()) {
    for (const auto& item : all->items()) {
      std::int32_t id = 0;
      const std::string& text = item.key();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
      by_id.value(text);
      if (error != std::errc() || end != text.data() + text.size() || id < 0) {
        by_id.problem(text, "is no id of a schema; it is a whole number from 0");
      } else {
        by_id.document_text(text, shape.schemas[id]);
      }
    }
  }
  if (shape.format != Format::kAvro) return;
  const bool framed = shape.framing == ValueFraming::kConfluent;
  const bool by_ids = !shape.schemas.empty() || !shape.schema_registry.empty();
  if (!framed && (by_ids || shape.schema.empty())) {
    section.problem(
        "schema",
        R"(is needed for "format": "avro" without framing, as "${file:reading.avsc}", and nothing else; records with a schema id in front have "framing": "confluent")");
  }
  if (framed && !shape.schema.empty())
    section.problem("schema",
                    "belongs to records without framing; name reading.schema_registry or reading.schemas");
  if (framed && shape.schemas.empty() == shape.schema_registry.empty())
    section.problem(
        "schema_registry",
        R"(or reading.schemas is needed, as "http://registry:8081" or {"42":"${file:reading.avsc}"}, and one of them alone)");
}

// A key that means nothing in the format says that the operator believes otherwise.
void refuse_keys_of_other_formats(ConfigSection& section, const ReadingShape& shape,
                                  const std::string& name) {
  const auto refuse = [&](const char* key, const char* belongs_to) {
    if (section.has(key))
      section.problem(key, "has no meaning with \"format\": \"" + name + "\"; it belongs to " + belongs_to);
  };
  if (!has_pointers(shape.format)) {
    for (const char* key : {"time", "metrics", "metric", "value", "time_strings", "time_zone"})
      refuse(key, "\"json\" and \"avro\"");
    if (shape.format != Format::kInflux) refuse("time_unit", "\"json\", \"avro\" and \"influx\"");
  }
  if (shape.format != Format::kInflux) refuse("measurement_prefix", "\"influx\"");
  if (shape.format != Format::kAvro) {
    for (const char* key : {"schema", "schemas", "schema_registry"}) refuse(key, "\"avro\"");
  }
}

struct NamedPointer {
  std::string key;
  std::string pointer;
};

std::vector<NamedPointer> pointers_of(const ReadingShape& shape) {
  std::vector<NamedPointer> pointers;
  const auto add = [&](const std::string& key, const std::string& text) {
    if (is_field_source(text) && field_source(text).kind == Kind::kPointer) pointers.push_back({key, text});
  };
  if (shape.metric) {
    pointers.push_back({"metric", *shape.metric});
    pointers.push_back({"value", shape.value});
  } else {
    pointers.push_back({"metrics", shape.metrics});
  }
  add("time", shape.time);
  for (const std::string& part : shape.device) add("device", part);
  add("arrival", shape.arrival);
  return pointers;
}

std::vector<NamedPointer> envelope_pointers_of(const ReadingShape& shape) {
  std::vector<NamedPointer> pointers;
  const auto add = [&](const std::string& key, const std::string& text) {
    if (is_field_source(text) && field_source(text).kind == Kind::kEnvelope)
      pointers.push_back({key, field_source(text).name});
  };
  if (!shape.body->empty()) pointers.push_back({"body", *shape.body});
  add("time", shape.time);
  for (const std::string& part : shape.device) add("device", part);
  add("arrival", shape.arrival);
  return pointers;
}

// A field lies neither where another one is nor inside of it; only in metrics, where it then is no metric.
void refuse_pointers_that_meet(ConfigSection& section, const std::vector<NamedPointer>& pointers) {
  for (const NamedPointer& inner : pointers) {
    for (const NamedPointer& outer : pointers) {
      if (&inner == &outer) continue;
      const bool inside = inner.pointer.starts_with(outer.pointer + "/") && outer.key != "metrics";
      const bool same = inner.pointer == outer.pointer && &inner > &outer;
      if (inside || same) {
        return section.problem(inner.key, "points " + std::string(inside ? "into " : "to ") + outer.pointer +
                                              ", and so does reading." + outer.key);
      }
    }
  }
}

}  // namespace

void read_reading(ConfigSection section, ReadingConfig& reading) {
  static const std::vector<std::pair<std::string_view, Format>> kFormats = {
      {"json", Format::kJson},     {"senml", Format::kSenml},
      {"influx", Format::kInflux}, {"thingsboard", Format::kThingsboard},
      {"avro", Format::kAvro},     {"thingsboard_gateway", Format::kThingsboardGateway}};
  ReadingShape& shape = reading.shape;
  section.choice<Format>("format", kFormats, shape.format);
  section.choice<ValueFraming>(
      "framing", {{"none", ValueFraming::kNone}, {"confluent", ValueFraming::kConfluent}}, shape.framing);
  read_pointer(section, "body", R"(a JSON pointer such as "/body")", shape.body);
  read_device(section, shape);
  read_times(section, shape);
  read_metrics(section, shape);
  section.flag("measurement_prefix", shape.measurement_prefix);
  ConfigSection select = section.section("select");
  read_globs(select, "allow", shape.selection.allow);
  read_globs(select, "deny", shape.selection.deny);
  read_conversions(select, shape.selection.convert);
  read_renames(select, shape.selection.rename);
  read_schemas(section, shape);
  section.number("max_metrics", 1, kMaxMetricsPerWindow, reading.max_metrics);
  section.flag("deduplicate", reading.deduplicate);
  for (const auto& [name, format] : kFormats) {
    if (format == shape.format) refuse_keys_of_other_formats(section, shape, std::string(name));
  }
  if (has_pointers(shape.format)) refuse_pointers_that_meet(section, pointers_of(shape));
  if (shape.body) refuse_pointers_that_meet(section, envelope_pointers_of(shape));
}

}  // namespace hourfold
