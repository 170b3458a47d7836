// A parsed record in one line, for tables of cases:
//   d1@1767225600000 t=21.5 h=40 | !no_device | d2@1767225600000 (string:1)
// Readings in their order, each as device@event_ms with its metrics, or ! and the reason; then the rejected
// metrics of the record.
#pragma once

#include <cstdio>
#include <string>

#include "core/reading.h"

namespace hourfold {

inline std::string describe(const ParsedRecord& record) {
  std::string text;
  for (const ParsedReading& reading : record.readings) {
    if (!text.empty()) text += " | ";
    if (reading.malformed != Malformed::kNone) {
      text.append("!").append(to_string(reading.malformed));
      continue;
    }
    text.append(reading.device).append("@").append(std::to_string(reading.event_ms));
    for (const Metric& metric : record.metrics_of(reading)) {
      char value[32];
      std::snprintf(value, sizeof value, "%.17g", metric.value);
      text.append(" ").append(metric.name).append("=").append(value);
    }
  }
  for (std::size_t reason = 0; reason < record.rejected_metrics.size(); ++reason) {
    if (record.rejected_metrics[reason] == 0) continue;
    text.append(" (").append(to_string(static_cast<MetricReject>(reason)));
    text.append(":").append(std::to_string(record.rejected_metrics[reason])).append(")");
  }
  return text;
}

}  // namespace hourfold
