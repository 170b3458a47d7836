// Event time and arrival as far as they are the record's or its envelope's, not the reading's.
#pragma once

#include <string_view>

#include "core/field_source.h"
#include "payload/payload_parser.h"

namespace hourfold {

inline bool is_event_time(EpochMs ms) { return ms >= 0 && ms <= kMaxEventMs; }

// None (kNoTime) where the record has no timestamp.
inline TimeField timestamp_of(const RecordView& record) {
  if (!is_event_time(record.timestamp_ms)) return {};
  return {Malformed::kNone, record.timestamp_ms};
}

// None (kNoTime) where the source is a pointer into the reading.
inline TimeField record_time(const FieldSource& source, const RecordView& record,
                             TimeField EnvelopeFields::*field) {
  if (source.kind == FieldSource::Kind::kRecordTime) return timestamp_of(record);
  if (source.kind == FieldSource::Kind::kEnvelope && record.envelope != nullptr)
    return record.envelope->*field;
  return {};
}

}  // namespace hourfold
