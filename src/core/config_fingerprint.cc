#include <cstdio>

#include "core/config.h"
#include "core/reading_section.h"

namespace hourfold {
namespace {

// Raised when the rules by which readings become cells change in the program itself (docs/FORMATS.md).
constexpr int kRulesVersion = 1;

std::string lines_of(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "\n") + text;
  return all;
}

std::string exactly(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string text_of(const MetricSelection& selection) {
  std::string text = lines_of(selection.allow) + "\n\n" + lines_of(selection.deny) + "\n\n";
  for (const auto& rule : selection.convert)
    text += rule.metrics + " " + exactly(rule.scale) + " " + exactly(rule.offset) + "\n";
  for (const auto& [from, to] : selection.rename) text += from + "\n" + to + "\n";
  return text;
}

// A line per value. A setting that comes later adds its line only where it differs from its default, so that
// an upgrade alone keeps the fingerprint.
std::string canonical_text(const Config& config) {
  std::string text = "rules " + std::to_string(kRulesVersion) + "\n";
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += std::string(name) + " " + std::to_string(value.size()) + " " + value + "\n";
  };
  const auto flag = [&line](std::string_view name, bool value) { line(name, value ? "true" : "false"); };
  const ReadingShape& shape = config.reading.shape;
  const ReadingShape defaults;
  line("reading.format", std::string(to_string(shape.format)));
  line("reading.device", lines_of(shape.device));
  line("reading.time", shape.time);
  line("reading.time_unit", std::string(to_string(shape.time_unit)));
  line("reading.metrics", shape.metrics);
  line("reading.arrival", shape.arrival);
  if (shape.arrival_falls_back_to_event) flag("reading.arrival_falls_back_to_event", true);
  flag("reading.numeric_strings", shape.numeric_strings);
  flag("reading.booleans", shape.booleans);
  flag("reading.deduplicate", config.reading.deduplicate);
  const auto later = [&line](std::string_view name, const std::string& value, const std::string& usual) {
    if (value != usual) line(name, value);
  };
  later("reading.framing", std::to_string(static_cast<int>(shape.framing)), "0");
  if (shape.body) line("reading.body", *shape.body);
  later("reading.device_separator", shape.device_separator, defaults.device_separator);
  if (shape.time_strings) flag("reading.time_strings", true);
  if (shape.time_zone_minutes) line("reading.time_zone", std::to_string(*shape.time_zone_minutes));
  later("reading.arrival_unit", std::to_string(static_cast<int>(shape.arrival_unit)),
        std::to_string(static_cast<int>(defaults.arrival_unit)));
  if (shape.metric) line("reading.metric", *shape.metric + "\n" + shape.value);
  if (!shape.measurement_prefix) flag("reading.measurement_prefix", false);
  if (shape.decimal_comma) flag("reading.decimal_comma", true);
  if (!shape.selection.empty()) line("reading.select", text_of(shape.selection));
  if (config.reading.max_metrics != kMaxMetricsPerWindow)
    line("reading.max_metrics", std::to_string(config.reading.max_metrics));
  // The schemas of a registry are named by the records themselves.
  if (!shape.schema.empty()) line("reading.schema", shape.schema);
  for (const auto& [id, schema] : shape.schemas) line("reading.schemas." + std::to_string(id), schema);
  line("policy.max_future_ms", std::to_string(config.policy.max_future_ms));
  line("policy.max_age_ms", std::to_string(config.policy.max_age_ms));
  return text;
}

std::uint64_t fnv1a_64(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

std::string semantics_fingerprint(const Config& config) {
  const std::uint64_t hash = fnv1a_64(canonical_text(config));
  std::string hex;
  for (unsigned shift = 64; shift > 0; shift -= 4) hex += "0123456789abcdef"[(hash >> (shift - 4)) & 15];
  return hex;
}

}  // namespace hourfold
