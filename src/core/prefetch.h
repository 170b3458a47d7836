// Asks for memory before it is needed. A hint: any address will do, also none.
#pragma once

#include <cstddef>

namespace hourfold {

inline constexpr std::size_t kCacheLine = 64;

inline void prefetch(const void* address) { __builtin_prefetch(address, 1); }

inline void prefetch_bytes(const void* begin, std::size_t size) {
  const char* const bytes = static_cast<const char*>(begin);
  for (std::size_t at = 0; at < size; at += kCacheLine) prefetch(bytes + at);
}

}  // namespace hourfold
