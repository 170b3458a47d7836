// An Avro value (specification 1.12, "Binary Encoding") as the JSON text that it stands for, so that the
// rules for JSON readings are its rules, too.
//
//   null, boolean, int, long     as they are
//   float, double                the shortest digits that read back as that float or double; NaN, Infinity
//   and
//                                -Infinity stand as these words
//   decimal (bytes, fixed)       all its digits
//   string, enum                 a string; invalid UTF-8 goes through, and is bad_utf8 in the JSON
//   bytes, fixed                 a string: the text that they hold, if they are UTF-8; else a character a
//   byte,
//                                U+0000 to U+00FF, as in Avro's own JSON encoding
//   uuid (fixed)                 a string of hex digits and hyphens
//   array; map, record           an array; an object
//   union                        the value of its branch, without a wrapper
//
// Safe on any bytes: the text is at most 1 MiB and 64 bytes a byte of the value, and at most 64 MiB and 8
// bytes a byte. Nothing is allocated by what the bytes say of themselves.
//
// Threads: a free function without state.
#pragma once

#include <string>
#include <string_view>

#include "core/reading.h"
#include "payload/avro_schema.h"

namespace hourfold {

// kNone; kTooDeep beyond kMaxDepth objects and arrays; else kBadAvro, also for bytes behind the value. json
// is unspecified then.
Malformed avro_to_json(const AvroSchema& schema, std::string_view value, std::string& json);

}  // namespace hourfold
