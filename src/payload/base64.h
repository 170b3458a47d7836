// Base64 (RFC 4648), of either alphabet, with its padding or without.
#pragma once

#include <string>
#include <string_view>

namespace hourfold {

// False if a character or the length is not of it; out is then unspecified.
bool decode_base64(std::string_view text, std::string& out);

}  // namespace hourfold
