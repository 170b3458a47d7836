// Samples that no configuration makes readable: recognised by their first bytes, and what to do instead.
//
// Threads: a free function without state. Errors: none; what is not recognised is not foreign.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hourfold {

struct ForeignSample {
  std::string what;    // "gzip-compressed bytes"
  std::string advice;  // a sentence or two
};

// Values that start with a schema registry's framing are foreign only if they hold Protobuf.
std::optional<ForeignSample> foreign_sample(std::string_view value);

}  // namespace hourfold
