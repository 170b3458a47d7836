// What the rollups of the demo must be, worked out from the readings as they were sent, by other means than
// the service's: no parser, no windows, sums exact by Shewchuk's expansions and rounded once.
//
// Source: J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/demo_fleet.h"
#include "core/aggregate.h"
#include "core/result.h"
#include "ports/rollup_table.h"

namespace hourfold {

class DemoOracle {
 public:
  // In the order in which the readings of a device were sent.
  void sent(const DemoReading& reading);

  struct Verdict {
    std::uint64_t rows = 0;
    std::uint64_t cells = 0;
    std::uint64_t differ = 0;
    std::vector<std::string> examples;  // of differences, a few
  };
  // Compares every cell of the table with what it must be.
  Result<Verdict> compare(RollupTable& table, std::uint32_t buckets, RowLayout layout) const;

  std::uint64_t sent_count() const { return sent_; }
  std::uint64_t late_hours() const { return late_; }

 private:
  using Hour = std::vector<DemoReading>;
  struct Expected {
    std::map<std::string, Rollup> metrics;
    std::int64_t revision = 0;
  };
  static Expected expected_of(const Hour& readings);

  std::map<std::pair<std::uint32_t, EpochMs>, Hour> hours_;
  std::uint64_t sent_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace hourfold
