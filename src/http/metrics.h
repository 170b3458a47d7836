// Metrics as plain values, and their text in the Prometheus exposition format (version 0.0.4).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hourfold {

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

struct HistogramBucket {
  double upper_bound = 0;
  std::uint64_t cumulative_count = 0;  // of values at most upper_bound
};

struct HistogramValue {
  std::vector<HistogramBucket> buckets;  // ascending; the bucket without a bound is implied
  std::uint64_t count = 0;
  double sum = 0;
};

struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;          // counter, gauge
  HistogramValue histogram;  // histogram
};

struct MetricFamily {
  std::string name;
  std::string help;
  MetricType type = MetricType::kGauge;
  std::vector<MetricSample> samples;
};

std::string to_prometheus_text(const std::vector<MetricFamily>& families);
inline constexpr const char* kPrometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace hourfold
