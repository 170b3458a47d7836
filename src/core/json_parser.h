// Reads canonical JSON (an object, an array of objects, several documents in a row as in NDJSON) into
// readings.
//
// A record is read to its end before anything is reported, so half a record never gets in. Broken grammar
// makes the whole record one malformed reading, unless it has several lines: then each line that is not blank
// stands alone. (A first line that ends in an opening bracket, or opens an array without closing it, belongs
// to one document over several lines.) An element that is sound JSON but no reading is malformed alone.
//
// Threads: one thread per parser. Ownership: the result lives until the next parse(). Errors: none; bad input
// is a Malformed reason.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/reading.h"

namespace hourfold {

struct ReadingShape {
  std::string device = "/device";  // JSON pointer of one level, or "key": the record's key
  std::string time = "/ts";        // integer epoch milliseconds
  std::string metrics = "/metrics";
  std::string arrival = "record";  // or a pointer of one level: integer epoch milliseconds in the payload
  bool arrival_falls_back_to_event =
      false;                     // where the field is missing or null, the event time is the arrival
  bool numeric_strings = false;  // "21.5" is taken as 21.5
  bool booleans = false;         // true is 1, false is 0
};

class JsonParser {
 public:
  // The pointers of the shape have been checked: another than one of one level ends the process.
  explicit JsonParser(const ReadingShape& shape);
  ~JsonParser();
  JsonParser(const JsonParser&) = delete;
  JsonParser& operator=(const JsonParser&) = delete;

  // record_time_ms: the record's timestamp, -1 if it has none. Never empty: a value without a single document
  // is one malformed reading.
  const ParsedRecord& parse(std::string_view value, std::optional<std::string_view> key,
                            EpochMs record_time_ms);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hourfold
