// InfluxDB line protocol:
//
//   measurement[,tag=value...] field=value[,field=value...] [time]
//
// Each line that is neither blank nor a comment (#) is a reading. The device is made up of tags (or what else
// the shape says), a field is the metric `measurement.field`, or `field` without the prefix. A line without a
// time has that of the record. Fields: floats, integers (i), unsigned ones (u), booleans and texts. A text
// has no line feed.
//
// Threads, ownership, errors: as PayloadParser.
#pragma once

#include <string_view>
#include <vector>

#include "payload/arena.h"
#include "payload/device_parts.h"
#include "payload/event_time.h"
#include "payload/metric_list.h"
#include "payload/payload_parser.h"

namespace hourfold {

class InfluxParser final : public PayloadParser {
 public:
  explicit InfluxParser(const ReadingShape& shape);

  const ParsedRecord& parse(const RecordView& record) override;

 private:
  void begin(const RecordView& record);
  Malformed read_line(std::string_view line, ParsedReading& reading);
  bool read_series(std::string_view& line);
  bool read_fields(std::string_view& line);
  bool read_field_value(std::string_view& line, MetricList::Entry& entry);
  bool read_text(std::string_view& line, MetricList::Entry& entry);
  bool take_scalar(std::string_view token, MetricList::Entry& entry);
  void take_tag(std::string_view key, std::string_view value);
  std::string_view metric_name(std::string_view field);
  TimeField read_time(std::string_view text) const;

  const bool measurement_prefix_;
  const bool arrival_falls_back_;
  const FieldSource arrival_source_;
  const TimeUnit time_unit_;
  Arena arena_;
  DeviceParts device_;
  MetricList metrics_;
  ParsedRecord record_;
  TimeField record_time_;
  TimeField arrival_;
  std::string_view measurement_;  // of the line that is read
};

}  // namespace hourfold
