// Where a field of a reading is: what the texts of a ReadingShape mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hourfold {

struct FieldSource {
  enum class Kind : std::uint8_t {
    kPointer,      // into the reading
    kEnvelope,     // a pointer into the document around it
    kKey,          // the record's key
    kHeader,       // of the record, by name
    kRecordTime,   // the record's timestamp
    kTag,          // influx, by name
    kMeasurement,  // influx
    kName,         // as the payload names the device
  };
  Kind kind;
  std::string name;  // pointer, header or tag
};

// A text that names none is the caller's mistake and ends the process.
FieldSource field_source(std::string_view text);
bool is_field_source(std::string_view text);

// The names that a JSON pointer (RFC 6901) goes through, none for the whole document. What is no pointer is
// the caller's mistake and ends the process.
std::vector<std::string> pointer_names(std::string_view pointer);
bool is_pointer(std::string_view text);

}  // namespace hourfold
