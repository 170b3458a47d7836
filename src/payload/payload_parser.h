// From a record of the topic to readings, in the shape that the configuration describes.
//
// A record is read to its end before anything is reported, so half a reading never gets in. Each reading
// stands alone: a bad one is malformed with its reason, the others of the record are as if it were not there.
//
// Threads: one thread per parser. Ownership: the result lives until the next parse(), and only as long as the
// record's bytes. Errors: none; bad input is a Malformed reason.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/reading.h"
#include "core/reading_shape.h"
#include "core/record.h"

namespace hourfold {

class AvroSchemas;

// A field of a reading, or the reason why it has none.
struct DeviceField {
  Malformed reason = Malformed::kNoDevice;
  std::string_view id;
};
struct TimeField {
  Malformed reason = Malformed::kNoTime;
  EpochMs ms = 0;
};

// What the document around a reading says of it: only the fields that the shape looks for there.
struct EnvelopeFields {
  std::vector<DeviceField> device;  // by part
  TimeField time;
  TimeField arrival;
};

struct RecordView {
  std::string_view value;
  std::optional<std::string_view> key = std::nullopt;
  EpochMs timestamp_ms = -1;  // -1: the record has none
  const RecordHeaders* headers = nullptr;
  const EnvelopeFields* envelope = nullptr;
};

// Of a copy with a value, which outlives it.
inline RecordView view_of(const RecordCopy& record) {
  RecordView view{*record.value};
  if (record.key) view.key = *record.key;
  view.timestamp_ms = record.timestamp_ms;
  view.headers = &record.headers;
  return view;
}

class PayloadParser {
 public:
  virtual ~PayloadParser() = default;
  // Never empty: a value without a single document is one malformed reading.
  virtual const ParsedRecord& parse(const RecordView& record) = 0;
};

// schemas: of Avro, for which they must be there. Outlive the parser.
std::unique_ptr<PayloadParser> make_payload_parser(const ReadingShape& shape, AvroSchemas* schemas = nullptr);

}  // namespace hourfold
