// What a record of the topic says: readings, each with a device, an event time and metrics, or the reason why
// it is not one.
//
// Ownership: views point into the parser that made them and live until its next call.
// Source of the rules: docs/FORMATS.md, "A reading".
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/types.h"

namespace hourfold {

// Why a reading (or a whole record) is malformed. The names of to_string() are what dead letters and counters
// carry.
enum class Malformed : std::uint8_t {
  kNone,
  kEmptyValue,      // zero bytes, or nothing but white space
  kBadUtf8,         // invalid UTF-8 anywhere in the document
  kBadJson,         // broken grammar, rubbish behind the document
  kTooDeep,         // nested deeper than kMaxDepth
  kTooMany,         // more than kMaxReadingsPerRecord readings, or kMaxMetricsPerReading metrics
  kNotAnObject,     // a document or an element that is no object
  kNoDevice,        // missing or null
  kBadDevice,       // empty, longer than kMaxDeviceBytes, NUL inside, neither string nor integer
  kNoTime,          // missing or null
  kBadTime,         // no number of the configured unit, or outside 1970 to 9999
  kNoMetrics,       // missing, or no object
  kNoUsableMetric,  // there were metrics, and every one of them was rejected
  kNoArrival,       // the record has no timestamp, or the configured field is missing or broken
  kCompressed,      // gzip or zstd inside the value
  kFramed,          // a schema registry's framing, where none is expected
  kNoFraming,       // none, or another one, where it is expected
  kUnknownSchema,   // the registry, or the configuration, has no schema of that id
  kBadAvro,         // not what the schema says
  kNoBody,          // the envelope has none, or it is no object, array or document in a text
  kBadSenml,  // a field of RFC 8428 with a value that it cannot have, or one that must be understood and is
              // not
  kBadLine,   // not the line protocol
  kCount,
};
std::string_view to_string(Malformed reason);

// Why one metric of a reading was left out while the others are folded.
enum class MetricReject : std::uint8_t {
  kNotFinite,   // NaN, Infinity, -Infinity
  kOutOfRange,  // a number that no double can hold, such as 1e400
  kString,
  kBoolean,
  kArray,
  kBadName,  // empty, longer than kMaxMetricNameBytes, or with control characters
  kCount,
};
std::string_view to_string(MetricReject reason);

inline constexpr std::size_t kMaxDeviceBytes = 256;
inline constexpr std::size_t kMaxMetricNameBytes = 128;
inline constexpr std::size_t kMaxMetricsPerReading = 4096;
inline constexpr std::size_t kMaxReadingsPerRecord = 100'000;
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr EpochMs kMaxEventMs = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z

struct Metric {
  std::string_view name;
  double value;  // finite
};

// One element of a record: a reading if malformed is kNone; no other field is set otherwise.
struct ParsedReading {
  Malformed malformed = Malformed::kNone;
  std::string_view device;
  EpochMs event_ms = 0;
  EpochMs arrival_ms = 0;
  std::uint32_t first_metric = 0;  // into ParsedRecord::metrics
  std::uint32_t metric_count = 0;  // 0: a heartbeat
};

struct ParsedRecord {
  std::vector<ParsedReading> readings;  // by index in the record
  std::vector<Metric> metrics;          // names are unique within a reading
  std::array<std::uint32_t, static_cast<std::size_t>(MetricReject::kCount)> rejected_metrics{};

  std::span<const Metric> metrics_of(const ParsedReading& reading) const {
    return std::span(metrics).subspan(reading.first_metric, reading.metric_count);
  }
};

}  // namespace hourfold
