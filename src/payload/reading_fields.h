// What every format does with the fields of a reading once it has found them.
#pragma once

#include "core/reading.h"
#include "payload/payload_parser.h"

namespace hourfold {

// Device, event time and arrival, or the reason of the first that is none.
// arrival_falls_back: where there is no arrival, the event time is it.
inline Malformed take_fields(ParsedReading& reading, const DeviceField& device, const TimeField& time,
                             const TimeField& arrival, bool arrival_falls_back) {
  if (device.reason != Malformed::kNone) return device.reason;
  if (time.reason != Malformed::kNone) return time.reason;
  const bool event_is_arrival = arrival_falls_back && arrival.reason == Malformed::kNoTime;
  if (arrival.reason != Malformed::kNone && !event_is_arrival) return Malformed::kNoArrival;
  reading.device = device.id;
  reading.event_ms = time.ms;
  reading.arrival_ms = event_is_arrival ? time.ms : arrival.ms;
  return Malformed::kNone;
}

// The metrics that collect() gives out (metric_list.h, json_metrics.h), which become the reading's.
template <class Metrics>
Malformed take_metrics(ParsedReading& reading, Metrics& metrics, ParsedRecord& record) {
  const std::size_t first = record.metrics.size();
  const Malformed reason = metrics.collect(record);
  reading.first_metric = static_cast<std::uint32_t>(first);
  reading.metric_count = static_cast<std::uint32_t>(record.metrics.size() - first);
  return reason;
}

}  // namespace hourfold
