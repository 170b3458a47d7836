// The nearest known word to one that is mistyped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hourfold {

// Empty if none of them is near enough to have been meant.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace hourfold
