// The nearest known word to one that is mistyped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hourfold {

// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
std::size_t edit_distance(std::string_view a, std::string_view b);
// Empty if none of them is near enough to have been meant.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace hourfold
