// A record of the log, copied: what the side topics get of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/bytes.h"
#include "core/types.h"

namespace hourfold {

struct RecordHeader {
  std::string name;
  std::optional<std::string> value;
  bool operator==(const RecordHeader&) const = default;
};
using RecordHeaders = std::vector<RecordHeader>;

struct RecordCopy {
  EpochMs timestamp_ms = -1;  // -1: the record has none
  std::optional<std::string> key;
  std::optional<std::string> value;
  RecordHeaders headers;

  std::size_t memory_bytes() const;
  bool operator==(const RecordCopy&) const = default;
};

void append_record_copy(std::string& out, const RecordCopy& record);
// in.ok() says whether it was one.
RecordCopy read_record_copy(ByteReader& in);

}  // namespace hourfold
