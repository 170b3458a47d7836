// What may be the device, the time and the metrics of a layer's readings, with how likely each is.
//
// Threads: free functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/record.h"
#include "payload/sample_layers.h"

namespace hourfold {

struct DeviceOption {
  std::vector<std::string> sources;
  int points;
};
struct TimeOption {
  std::string source;
  int points;
  TimeUnit unit = TimeUnit::kMs;
  bool strings = false;
  bool names_zone = true;
};
struct MetricsOption {
  std::string metrics;                // pointer
  std::optional<std::string> metric;  // or of the one metric
  std::string value;
  int points;
};

// Best first, never empty: the last resorts are the key and the record's timestamp.
std::vector<DeviceOption> device_options(const SampleLayer& layer, const RecordCopy& record);
std::vector<TimeOption> time_options(const SampleLayer& layer);
// Best first, empty if there is nothing that could be measured.
std::vector<MetricsOption> metrics_options(const SampleLayer& layer);

// Of a record's key and headers alone.
DeviceOption device_of_record(const RecordCopy& record);

}  // namespace hourfold
