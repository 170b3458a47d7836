// Where a topic's records keep their readings: the `reading` section of the configuration, checked by its
// reader (core/config.cc). What a parser gets is sound; anything else ends the process.
//
// Source of the rules: docs/PAYLOADS.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hourfold {

enum class PayloadFormat : std::uint8_t {
  kJson,                // objects with fields where the pointers say
  kSenml,               // RFC 8428 packs in JSON
  kInflux,              // line protocol
  kThingsboard,         // telemetry of one device
  kThingsboardGateway,  // of many, by name
  kAvro,                // binary, read as the JSON that it stands for
};
// Whether fields are where JSON pointers say.
inline bool has_pointers(PayloadFormat format) {
  return format == PayloadFormat::kJson || format == PayloadFormat::kAvro;
}

enum class ValueFraming : std::uint8_t {
  kNone,
  kConfluent
};  // kConfluent: a zero byte and the schema's id in front
enum class TimeUnit : std::uint8_t { kSeconds, kMs, kUs, kNs, kRfc3339, kAuto };

// How values become metrics. Names are those of the payload; globs have * and ?, and * also matches dots.
struct MetricSelection {
  struct Conversion {
    std::string metrics;  // glob; of several that match, the first counts
    double scale = 1;     // value * scale + offset; a scale that is one over a whole number divides by it
    double offset = 0;
    bool operator==(const Conversion&) const = default;
  };
  std::vector<std::string> allow;  // globs; empty: all
  std::vector<std::string> deny;   // globs
  std::vector<Conversion> convert;
  std::map<std::string, std::string> rename;  // whole names, after the rest

  bool empty() const { return allow.empty() && deny.empty() && convert.empty() && rename.empty(); }
  bool operator==(const MetricSelection&) const = default;
};

// A source is a JSON pointer into the reading, or `envelope:` and a pointer into the document around it, or a
// word: see each field.
struct ReadingShape {
  PayloadFormat format = PayloadFormat::kJson;
  ValueFraming framing = ValueFraming::kNone;
  // Pointer to what holds the readings: an object, an array, or a text with a document in it, as it is or in
  // base64.
  std::optional<std::string> body;

  // Parts, joined by the separator. Also `key`, `header:NAME`; `tag:NAME`, `measurement` (influx); `name`
  // (senml and thingsboard_gateway: as the payload names it).
  std::vector<std::string> device = {"/device"};
  std::string device_separator = "/";

  std::string time = "/ts";  // also `record`: the record's timestamp
  TimeUnit time_unit = TimeUnit::kMs;
  bool time_strings = false;  // numbers in strings are times, too
  std::optional<int>
      time_zone_minutes;           // east of UTC, of RFC 3339 times that name none; else those are broken
  std::string arrival = "record";  // the record's timestamp, or a source
  TimeUnit arrival_unit = TimeUnit::kMs;
  bool arrival_falls_back_to_event = false;  // where there is none, the event time is the arrival

  // Pointer to the object of metrics, "" for the reading itself, of which the other fields are no metrics. Or
  // one metric a reading: where its name and its value are (a pointer each; the metrics pointer then has no
  // meaning).
  std::string metrics = "/metrics";
  std::optional<std::string> metric;
  std::string value = "/value";
  bool measurement_prefix = true;  // influx: `measurement.field`, else `field`

  bool numeric_strings = false;  // "21.5" is taken as 21.5
  bool decimal_comma = false;    // and "21,5", too
  bool booleans = false;         // true is 1, false is 0
  MetricSelection selection;

  // Avro: the schema of all records, or by the id in their framing, or the registry's address.
  std::string schema;
  std::map<std::int32_t, std::string> schemas;
  std::string schema_registry;

  bool operator==(const ReadingShape&) const = default;
};

}  // namespace hourfold
