// A word that stands for a name in comparisons.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace hourfold {

// Different tags, different names. A name must have a word of readable bytes from its beginning: the padding
// of a text and the slack of an arena see to that.
inline std::uint64_t name_tag(std::string_view name) {
  const auto word = [](const char* p) {
    std::uint64_t value;
    std::memcpy(&value, p, sizeof value);
    return value;
  };
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t size = name.size();
  if (size > kWord) return word(name.data()) ^ (word(name.data() + size - kWord) << 1) ^ size;
  if (size == 0) return 0;
  return word(name.data()) << (8 * (kWord - size));
}

}  // namespace hourfold
