// How long calls took, in seconds, in fixed buckets from a millisecond to two minutes.
//
// Threads: record() and value() from any, without locks. A value() taken beside record() misses at most the
// calls of that moment; its
//          count is always the sum of its buckets.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "http/metrics.h"

namespace hourfold {

class LatencyHistogram {
 public:
  static constexpr std::array kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,  0.25,
                                         0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0, 120.0};

  void record(double seconds) {
    const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
    counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(static_cast<std::uint64_t>(std::max(seconds, 0.0) * 1e9), std::memory_order_relaxed);
  }

  HistogramValue value() const {
    HistogramValue value;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      value.count += counts_[i].load(std::memory_order_relaxed);
      if (i < kBounds.size()) value.buckets.push_back({kBounds[i], value.count});
    }
    value.sum = static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) / 1e9;
    return value;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};  // the last one: above all bounds
  std::atomic<std::uint64_t> sum_ns_{0};
};

}  // namespace hourfold
