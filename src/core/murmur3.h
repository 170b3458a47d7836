// MurmurHash3, the 32-bit variant for x86: stable over machines and versions, so that it may decide where a
// row lies.
//
// Source: Austin Appleby, MurmurHash3 (public domain), from its description.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hourfold {

constexpr std::uint32_t murmur3_32(std::string_view bytes, std::uint32_t seed = 0) {
  const auto byte_at = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i]));
  };
  const auto scramble = [](std::uint32_t k) { return std::rotl(k * 0xcc9e2d51U, 15) * 0x1b873593U; };

  std::uint32_t hash = seed;
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    const std::uint32_t k = byte_at(i) | byte_at(i + 1) << 8 | byte_at(i + 2) << 16 | byte_at(i + 3) << 24;
    hash = std::rotl(hash ^ scramble(k), 13) * 5 + 0xe6546b64U;
  }
  std::uint32_t tail = 0;
  for (std::size_t shift = 0; i < bytes.size(); ++i, shift += 8) tail |= byte_at(i) << shift;
  hash ^= scramble(tail);

  hash ^= static_cast<std::uint32_t>(bytes.size());
  hash = (hash ^ hash >> 16) * 0x85ebca6bU;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
  return hash ^ hash >> 16;
}

}  // namespace hourfold
