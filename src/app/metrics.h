// What /metrics shows of a service. Names: docs/METRICS.md.
#pragma once

#include <vector>

#include "app/service.h"
#include "http/latency_histogram.h"
#include "http/metrics.h"

namespace hourfold {

struct PutLatency {
  LatencyHistogram landed;
  LatencyHistogram failed;
};

std::vector<MetricFamily> service_metrics(const Service& service, const PutLatency& put_latency);

}  // namespace hourfold
