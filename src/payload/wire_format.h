// Whether bytes could be a message of Protobuf, of which nothing is known but the wire format
// (protobuf.dev/programming-guides/encoding).
//
// Threads: free functions without state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hourfold {

struct WireField {
  std::uint64_t number;
  unsigned type;             // 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes
  std::uint64_t varint = 0;  // of type 0
};

// The fields of a message, none if the bytes are not a message to their end.
std::vector<WireField> wire_fields(std::string_view bytes);

// Behind a registry's framing and the indexes of a message type, which are the framing's second part.
bool is_framed_protobuf(std::string_view behind_framing);

}  // namespace hourfold
