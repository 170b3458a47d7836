// Readings in JSON objects: device, time and metrics where the pointers of the shape say, or one metric a
// reading.
//
// An element that is sound JSON but no reading is malformed alone. See json_documents.h for records of
// several.
//
// Threads, ownership, errors: as PayloadParser.
#pragma once

#include "payload/device_parts.h"
#include "payload/json_documents.h"
#include "payload/json_fields.h"
#include "payload/json_metrics.h"

namespace hourfold {

class JsonParser final : public JsonDocuments {
 public:
  // The shape has been checked: pointers that are none end the process.
  explicit JsonParser(const ReadingShape& shape);

 private:
  void begin(const RecordView& record) override;
  Index read_object(Index i) override;
  Malformed finish(ParsedReading& reading);
  Malformed read_one_metric();

  const bool one_metric_;
  const bool arrival_falls_back_;
  const FieldSource time_source_;
  const FieldSource arrival_source_;
  DeviceParts device_;
  JsonMetrics metrics_;
  JsonFields fields_;
  TimeField shared_time_;  // of the record or its envelope
  TimeField shared_arrival_;
};

}  // namespace hourfold
