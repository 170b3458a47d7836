// The examples of docs/PAYLOADS.md.
#pragma once

#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "payload/payload_parser.h"
#include "tests/support/hex.h"

namespace hourfold {

struct PayloadExample {
  static constexpr EpochMs kArrival = 1'767'225'600'000;

  std::string title;
  std::optional<std::string> key;
  RecordHeaders headers;
  std::string value;
  std::string reading;   // section of the configuration
  std::string readings;  // as told() says them

  RecordView record() const {
    RecordView view{value};
    if (key) view.key = *key;
    view.timestamp_ms = kArrival;
    view.headers = &headers;
    return view;
  }
};

// Readings in their order, a line each; rejected metrics in a last line.
inline std::string told(const ParsedRecord& record) {
  std::string text;
  for (const ParsedReading& reading : record.readings) {
    if (reading.malformed != Malformed::kNone) {
      text.append("! ").append(to_string(reading.malformed)).append("\n");
      continue;
    }
    text.append(reading.device).append(" @ ").append(std::to_string(reading.event_ms)).append(" ");
    for (const Metric& metric : record.metrics_of(reading)) {
      char value[32];
      std::snprintf(value, sizeof value, "%.17g", metric.value);
      text.append(" ").append(metric.name).append("=").append(value);
    }
    text += "\n";
  }
  std::string rejected;
  for (std::size_t reason = 0; reason < record.rejected_metrics.size(); ++reason) {
    if (record.rejected_metrics[reason] == 0) continue;
    rejected.append(rejected.empty() ? "[" : " [").append(to_string(static_cast<MetricReject>(reason)));
    rejected.append(": ").append(std::to_string(record.rejected_metrics[reason])).append("]");
  }
  return rejected.empty() ? text : text + rejected + "\n";
}

// An example ends with its block of readings. source: folder of the repository.
inline std::vector<PayloadExample> payload_examples(const std::string& source) {
  std::ifstream file(source + "/docs/PAYLOADS.md");
  std::vector<PayloadExample> examples;
  PayloadExample example;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("## ")) example.title = line.substr(3);
    if (!line.starts_with("```")) continue;
    const std::string kind = line.substr(3);
    std::string text;
    while (std::getline(file, line) && line != "```") text += line + "\n";
    std::string one_line = text.substr(0, text.size() - 1);
    if (kind == "key") example.key = one_line;
    if (kind == "header")
      example.headers = {{one_line.substr(0, one_line.find(": ")), one_line.substr(one_line.find(": ") + 2)}};
    if (kind == "record") example.value = one_line;
    if (kind == "hex") example.value = test::unhex(one_line);
    if (kind == "reading") example.reading = one_line;
    if (kind != "readings") continue;
    example.readings = text;
    examples.push_back(example);
    example.key.reset();
    example.headers.clear();
  }
  return examples;
}

}  // namespace hourfold
