// Telemetry as ThingsBoard takes it, of one device or, from a gateway, of several by name:
//
//   {"ts":1451649600512,"values":{"temperature":42.2}}   {"temperature":42.2}   [ ... ]
//   {"Device A":[{"ts":1451649600512,"values":{"temperature":42.2}}, ...], "Device B":[ ... ]}
//
// Values without a time have that of the record. Each element of an array is a reading.
//
// Threads, ownership, errors: as PayloadParser.
#pragma once

#include <optional>

#include "payload/device_parts.h"
#include "payload/event_time.h"
#include "payload/json_documents.h"
#include "payload/json_metrics.h"
#include "payload/pointer_tree.h"

namespace hourfold {

class ThingsboardParser final : public JsonDocuments {
 public:
  explicit ThingsboardParser(const ReadingShape& shape);

 private:
  void begin(const RecordView& record) override;
  Index read_object(Index i) override;

  Index read_devices(Index i);
  Index read_element(Index i);
  Index read_telemetry(Index i);
  Index find_members(Index i, Index& time, Index& values);
  TimeField time_at(Index i);
  Malformed finish(ParsedReading& reading, const TimeField& time);

  const bool of_gateway_;
  const bool arrival_falls_back_;
  const FieldSource arrival_source_;
  const TimeFormat time_format_{TimeUnit::kMs, true, std::nullopt};
  DeviceParts device_;
  JsonMetrics metrics_;
  TimeField record_time_;
  TimeField arrival_;
};

}  // namespace hourfold
