#include "tests/fuzz/payloads.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/config.h"
#include "payload/json_tokens.h"
#include "payload/record_text.h"

namespace hourfold::fuzz {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }

void check_name(std::string_view name) {
  require(!name.empty() && name.size() <= kMaxMetricNameBytes, "a metric's name within its bounds", name);
  require(std::none_of(name.begin(), name.end(), is_control), "a metric's name without controls", name);
  require(JsonTokens::is_utf8(name), "a metric's name in UTF-8", name);
}

bool is_time(EpochMs ms) { return ms >= 0 && ms <= kMaxEventMs; }

// A record as another one is read: the view's other fields stay.
std::string parsed(PayloadParser& parser, RecordView record, std::string_view value) {
  record.value = value;
  const ParsedRecord& result = parser.parse(record);
  check_invariants(result);
  return told(result);
}

}  // namespace

ReadingShape shape_of(std::string_view section) {
  const std::string text = "{\"reading\":" + std::string(section) + "}";
  const auto config = parse_config(text, "shape", {}, {}, false);
  require(config.has_value(), "a sound section", section);
  return config->reading.shape;
}

std::string told(const ParsedRecord& record) {
  std::string text;
  for (const ParsedReading& reading : record.readings) {
    text.append(to_string(reading.malformed)).append(" ").append(reading.device);
    text.append(" @").append(std::to_string(reading.event_ms));
    text.append(" ").append(std::to_string(reading.arrival_ms));
    for (const Metric& metric : record.metrics_of(reading)) {
      char value[32];
      std::snprintf(value, sizeof value, "%.17g", metric.value);
      text.append(" ").append(metric.name).append("=").append(value);
    }
    text += "\n";
  }
  for (const std::uint32_t rejected : record.rejected_metrics)
    text.append(std::to_string(rejected)).append(" ");
  return text;
}

void check_invariants(const ParsedRecord& record) {
  require(!record.readings.empty(), "a reading at least");
  require(record.readings.size() <= kMaxReadingsPerRecord, "no more readings than the bound");
  for (const ParsedReading& reading : record.readings) {
    if (reading.malformed != Malformed::kNone) {
      require(reading.metric_count == 0 && reading.device.empty(), "nothing else of a malformed reading");
      continue;
    }
    const std::string_view device = reading.device;
    require(!device.empty() && device.size() <= kMaxDeviceBytes, "a device within its bounds", device);
    require(device.find('\0') == std::string_view::npos, "a device without NUL", device);
    require(JsonTokens::is_utf8(device), "a device in UTF-8", device);
    require(is_time(reading.event_ms), "an event time of 1970 to 9999", std::to_string(reading.event_ms));
    require(is_time(reading.arrival_ms), "an arrival of 1970 to 9999", std::to_string(reading.arrival_ms));
    require(reading.metric_count <= kMaxMetricsPerReading, "no more metrics than the bound");
    require(std::size_t{reading.first_metric} + reading.metric_count <= record.metrics.size(),
            "metrics that are there");
    std::vector<std::string_view> names;
    for (const Metric& metric : record.metrics_of(reading)) {
      require(std::isfinite(metric.value), "a finite value", metric.name);
      check_name(metric.name);
      names.push_back(metric.name);
    }
    std::sort(names.begin(), names.end());
    const auto repeated = std::adjacent_find(names.begin(), names.end());
    require(repeated == names.end(), "unique names", repeated == names.end() ? "" : *repeated);
  }
}

std::string check_payload(const ReadingShape& shape, const RecordView& record, AvroSchemas* schemas) {
  const std::string_view value = record.value;
  const auto parser = make_payload_parser(shape, schemas);
  std::string alone = parsed(*parser, record, Exact(value).view());

  const std::string longer = std::string(value) + "1]}\"" + std::string(70, '{');
  const std::string_view front = std::string_view(longer).substr(0, value.size());
  require_equal(parsed(*parser, record, front), alone, "the same whatever lies behind, and once again");

  // Parts of it are records that leave a parser in the middle of things.
  const auto used = make_payload_parser(shape, schemas);
  parsed(*used, record, value.substr(value.size() / 2));
  parsed(*used, record, value.substr(0, value.size() / 2));
  parsed(*used, {value, std::nullopt, -1}, value.substr(value.size() / 3));
  require_equal(parsed(*used, record, value), alone, "the same of a parser that has read other records");

  const bool text = shape.framing == ValueFraming::kNone && shape.format != PayloadFormat::kAvro;
  if (text && !value.starts_with(kByteOrderMark)) {
    const std::string wrapped = std::string(kByteOrderMark) + std::string(value) + std::string("\r\n\0", 3);
    require_equal(parsed(*parser, record, wrapped), alone, "the same with what surrounds a text");
  }
  return alone;
}

FuzzedRecord::FuzzedRecord(Input& input, std::size_t shapes) {
  shape = input.letter(shapes);
  const std::uint8_t flags = input.byte();
  if ((flags & 1) != 0) {
    has_key = true;
    key = Exact(input.line());
  }
  if ((flags & 2) != 0) headers = {{"device-id", std::string(input.line())}};
  if ((flags & 4) != 0) timestamp_ms = -1;
  value = Exact(input.rest());
}

std::string try_payload(std::span<const ReadingShape> shapes, std::string_view bytes, AvroSchemas* schemas) {
  Input input(bytes);
  const FuzzedRecord record(input, shapes.size());
  return check_payload(shapes[record.shape], record.view(), schemas);
}

}  // namespace hourfold::fuzz
