// The oracles of every payload parser, whatever the format.
//
// An input is read as: a letter that chooses the shape; a digit of which bit 0 stands for a line with the
// record's key, bit 1 for a line with its header `device-id`, bit 2 for a record without timestamp; those
// lines; and the record's value.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/reading.h"
#include "core/reading_shape.h"
#include "payload/payload_parser.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {

// Of the text of a `reading` section, as docs/PAYLOADS.md has them.
ReadingShape shape_of(std::string_view section);

// Everything that a caller can see of a record, a reading a line.
std::string told(const ParsedRecord& record);

// What the header of the readings promises of any record.
void check_invariants(const ParsedRecord& record);

// Parses the record in several surroundings, which must not matter: in memory of its size and before other
// bytes; by a parser that has read it before or has read others. Returns what is told of it. schemas: as
// make_payload_parser() has them.
std::string check_payload(const ReadingShape& shape, const RecordView& record,
                          AvroSchemas* schemas = nullptr);

struct FuzzedRecord {
  FuzzedRecord(Input& input, std::size_t shapes);
  RecordView view() const { return {value.view(), key_view(), timestamp_ms, &headers, nullptr}; }

  std::size_t shape = 0;
  bool has_key = false;
  EpochMs timestamp_ms = 1'767'225'600'000;
  RecordHeaders headers;
  Exact key{{}};
  Exact value{{}};

 private:
  std::optional<std::string_view> key_view() const {
    return has_key ? std::optional(key.view()) : std::nullopt;
  }
};

// The whole of a fuzzer of one format.
std::string try_payload(std::span<const ReadingShape> shapes, std::string_view input,
                        AvroSchemas* schemas = nullptr);

}  // namespace hourfold::fuzz
