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
#include "payload/template_set.h"

namespace hourfold {

class JsonParser final : public JsonDocuments {
 public:
  // The shape has been checked: pointers that are none end the process.
  // learns: whether what readings have in common is remembered (json_template.h); it changes nothing but the
  // speed.
  explicit JsonParser(const ReadingShape& shape, bool learns = true);

  const ParsedRecord& parse(const RecordView& record) override;

 private:
  void begin(const RecordView& record) override;
  Index read_object(Index i) override;
  bool parse_by_template(const RecordView& record);
  TimeField time_of(const JsonTemplate::Time& time, const TimeFormat& format) const;
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
  const bool learns_;
  TemplateSet templates_;
};

}  // namespace hourfold
