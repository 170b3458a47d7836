#include "pipeline/memory_shares.h"

#include <doctest/doctest.h>

#include "app/worker_settings.h"

using namespace hourfold;

namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;

// Of all partitions together.
std::uint64_t most(const MemoryShares& shares, std::uint64_t partitions) {
  return partitions * (shares.windows + shares.outbox_windows * MemoryShares::kWindowInOutbox +
                       shares.waiting + shares.side + shares.inbox);
}

}  // namespace

TEST_CASE("case 32: the bounds of all partitions together do not grow with their number") {
  for (const std::uint64_t memory : {64 * kMiB, 256 * kMiB, 1024 * kMiB, 16'384 * kMiB}) {
    for (const std::int32_t count : {1, 2, 7, 8, 64, 256}) {
      CAPTURE(memory);
      CAPTURE(count);
      const MemoryShares shares = MemoryShares::of(memory, count);
      const auto partitions = static_cast<std::uint64_t>(count);
      CHECK(partitions * shares.windows <= std::max(memory / 2, partitions * MemoryShares::kLeastShare));
      // Side records and inboxes are capped for each partition, which leaves one alone with less.
      CHECK(most(shares, partitions) <= std::max(3 * memory / 2, 3 * partitions * MemoryShares::kLeastShare));
    }
  }
}

TEST_CASE("case 32: the usual memory with eight partitions") {
  const MemoryShares shares = MemoryShares::of(1024 * kMiB, 8);
  CHECK(shares.windows == 64 * kMiB);
  CHECK(shares.outbox_windows == 262'144);
  CHECK(shares.waiting == 16 * kMiB);
  CHECK(shares.side == 32 * kMiB);
  CHECK(shares.inbox == 16 * kMiB);
}

TEST_CASE("case 32: however many partitions, each can go on") {
  const MemoryShares shares = MemoryShares::of(64 * kMiB, 10'000);
  CHECK(shares.windows == MemoryShares::kLeastShare);
  CHECK(shares.outbox_windows >= 4'096);
  CHECK(shares.inbox >= 256 * 1024);
}

TEST_CASE("every worker has its share, also one that only compares") {
  Config config;
  config.kafka.topics = {"t"};
  config.state.memory_bytes = 256 * kMiB;
  const MemoryShares shares = MemoryShares::of(256 * kMiB, 64);
  const WorkerSettings settings = worker_settings(config, {3}, 64, nullptr);
  CHECK(settings.memory_bytes == shares.windows);
  CHECK(settings.max_outbox == shares.outbox_windows);
  CHECK(settings.max_waiting_bytes == shares.waiting);
  CHECK(settings.max_side_bytes == shares.side);
}
