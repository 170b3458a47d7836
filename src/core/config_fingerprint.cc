#include "core/config.h"

namespace hourfold {
namespace {

// Raised when the rules by which readings become cells change in the program itself (docs/FORMATS.md).
constexpr int kRulesVersion = 1;

// A line per value. A setting that comes later adds its line only where it differs from its default, so that
// an upgrade alone keeps the fingerprint.
std::string canonical_text(const Config& config) {
  std::string text = "rules " + std::to_string(kRulesVersion) + "\n";
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += std::string(name) + " " + std::to_string(value.size()) + " " + value + "\n";
  };
  const auto flag = [&line](std::string_view name, bool value) { line(name, value ? "true" : "false"); };
  const ReadingShape& shape = config.reading.shape;
  line("reading.format", "json");
  line("reading.device", shape.device);
  line("reading.time", shape.time);
  line("reading.time_unit", "ms");
  line("reading.metrics", shape.metrics);
  line("reading.arrival", shape.arrival);
  if (shape.arrival_falls_back_to_event) flag("reading.arrival_falls_back_to_event", true);
  flag("reading.numeric_strings", shape.numeric_strings);
  flag("reading.booleans", shape.booleans);
  flag("reading.deduplicate", config.reading.deduplicate);
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
