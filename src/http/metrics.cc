#include "http/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <locale>
#include <sstream>

namespace hourfold {
namespace {

prometheus::ClientMetric::Histogram to_histogram(const HistogramValue& value) {
  prometheus::ClientMetric::Histogram histogram;
  histogram.sample_count = value.count;
  histogram.sample_sum = value.sum;
  for (const HistogramBucket& bucket : value.buckets) {
    histogram.bucket.push_back({bucket.cumulative_count, bucket.upper_bound});
  }
  return histogram;
}

prometheus::ClientMetric to_metric(const MetricSample& sample, MetricType type) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  switch (type) {
    case MetricType::kCounter:
      metric.counter.value = sample.value;
      break;
    case MetricType::kGauge:
      metric.gauge.value = sample.value;
      break;
    case MetricType::kHistogram:
      metric.histogram = to_histogram(sample.histogram);
      break;
  }
  return metric;
}

prometheus::MetricType to_type(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

}  // namespace

std::string to_prometheus_text(const std::vector<MetricFamily>& families) {
  std::vector<prometheus::MetricFamily> collected;
  collected.reserve(families.size());
  for (const MetricFamily& family : families) {
    if (family.samples.empty()) continue;
    auto& out = collected.emplace_back();
    out.name = family.name;
    out.help = family.help;
    out.type = to_type(family.type);
    for (const MetricSample& sample : family.samples) out.metric.push_back(to_metric(sample, family.type));
  }
  std::ostringstream text;
  text.imbue(std::locale::classic());
  prometheus::TextSerializer().Serialize(text, collected);
  return text.str();
}

}  // namespace hourfold
