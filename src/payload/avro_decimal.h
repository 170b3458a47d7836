// Avro's decimals: a whole number in two's complement, big-endian, over a power of ten.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hourfold {

// Every digit of it, as a JSON number: scale of them behind the point. Not empty; time grows with the square
// of its length.
void append_decimal(std::string_view bytes, std::uint32_t scale, std::string& json);

}  // namespace hourfold
