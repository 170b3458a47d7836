// Equality of short runs of bytes, in place: for names of a few bytes the call of memcmp() is most of its
// work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hourfold {

template <class Word>
inline bool same_word(const char* a, const char* b) {
  Word x;
  Word y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x == y;
}

// Reads nothing beyond the two. The last word overlaps the one before it.
inline bool same_bytes(const char* a, const char* b, std::size_t size) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::size_t kHalf = sizeof(std::uint32_t);
  if (size >= kWord) {
    for (std::size_t i = 0; i + kWord < size; i += kWord) {
      if (!same_word<std::uint64_t>(a + i, b + i)) return false;
    }
    return same_word<std::uint64_t>(a + size - kWord, b + size - kWord);
  }
  if (size >= kHalf)
    return same_word<std::uint32_t>(a, b) && same_word<std::uint32_t>(a + size - kHalf, b + size - kHalf);
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace hourfold
