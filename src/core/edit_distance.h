// How many slips of the finger lie between two words: for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace hourfold {

// Characters to insert, to drop, to replace, or neighbours to swap.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace hourfold
