// The escapes of a JSON string (RFC 8259, section 7).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace hourfold {

// Writes the string between two quotes without its escapes; `out` holds raw.size() bytes, which is always
// enough. Returns the length, or nothing if an escape is unknown, cut off, or half of a surrogate pair (which
// no UTF-8 can say).
std::optional<std::size_t> unescape_json(std::string_view raw, char* out);

}  // namespace hourfold
