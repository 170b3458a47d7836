// Growing, jittered delays between tries: 100 ms, doubled up to 30 s. The jitter comes from a seed, so a run
// can be repeated.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/types.h"

namespace hourfold {

class Backoff {
 public:
  explicit Backoff(std::uint64_t seed) : random_(seed | 1) {}

  bool ready(EpochMs now) const { return now >= until_ms_; }
  EpochMs until_ms() const { return until_ms_; }
  unsigned failures() const { return failures_; }

  void succeeded() {
    failures_ = 0;
    until_ms_ = 0;
  }
  void failed(EpochMs now) {
    const std::int64_t ceiling = std::min(kMaxMs, kFirstMs << std::min(failures_, 16U));
    ++failures_;
    // Between half of the ceiling and all of it.
    until_ms_ =
        now + ceiling / 2 + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(ceiling / 2 + 1));
  }

 private:
  static constexpr std::int64_t kFirstMs = 100;
  static constexpr std::int64_t kMaxMs = 30'000;

  std::uint64_t next() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  std::uint64_t random_;
  unsigned failures_ = 0;
  EpochMs until_ms_ = 0;
};

}  // namespace hourfold
