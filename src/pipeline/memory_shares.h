// How the memory that a process may use for readings on their way is shared by the partitions of its topic,
// so that 64 of them hold no more than one.
//
// The half of state.memory that is not the stores' is divided evenly; each bound of a partition is a fixed
// part of its share. Below kLeastShare nothing would flow any more: a process with so many partitions needs
// more memory than it was given, and takes it. Units: bytes, unless named otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace hourfold {

struct MemoryShares {
  static constexpr std::uint64_t kLeastShare = 1ULL << 20;
  static constexpr std::size_t kWindowInOutbox = 256;  // what a window without its content takes

  std::size_t windows;
  std::size_t outbox_windows;  // a number of them
  std::size_t waiting;
  std::size_t side;
  std::size_t inbox;

  // partitions: of the topic, since any number of them may come to this process.
  static MemoryShares of(std::uint64_t state_memory, std::int32_t partitions) {
    const auto sharing = static_cast<std::uint64_t>(std::max(partitions, 1));
    const std::uint64_t share = std::max(state_memory / 2 / sharing, kLeastShare);
    MemoryShares shares{};
    shares.windows = share;
    shares.outbox_windows = share / kWindowInOutbox;
    shares.waiting = share / 4;
    // More than these would only be latency.
    shares.side = std::min<std::uint64_t>(share / 2, 32 << 20);
    shares.inbox = std::min<std::uint64_t>(share / 4, 16 << 20);
    return shares;
  }
};

}  // namespace hourfold
