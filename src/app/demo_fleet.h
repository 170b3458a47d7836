// The simulated fleet of `hourfold demo`: devices with a daily rhythm, a network that delays and repeats,
// gateways that break bytes and clocks that are off. A function of its seed.
//
// Records come in the order of their arrival. Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "core/types.h"

namespace hourfold {

inline constexpr std::array<const char*, 4> kDemoMetrics = {"temp_c", "humidity", "batt_v", "rssi_dbm"};

struct DemoReading {
  std::uint32_t device = 0;
  EpochMs event_ms = 0;
  EpochMs arrival_ms = 0;
  std::array<std::optional<double>, kDemoMetrics.size()> values;
  bool broken = false;  // the payload is not a reading
};

struct DemoFleetOptions {
  std::uint32_t devices = 1000;
  std::uint32_t hours = 24;
  EpochMs begin_ms = 0;
  EpochMs interval_ms = 60'000;
  std::uint64_t seed = 1;

  EpochMs end_ms() const { return begin_ms + hours * kHourMs; }
};

class DemoFleet {
 public:
  explicit DemoFleet(const DemoFleetOptions& options);

  // Empty after the last.
  std::optional<DemoReading> next();
  std::uint64_t expected_readings() const;

  static std::string device_name(std::uint32_t device);
  // Canonical JSON, or one of many ways to be none.
  void write_payload(const DemoReading& reading, std::string& out);

 private:
  struct Later {
    bool operator()(const DemoReading& a, const DemoReading& b) const { return a.arrival_ms > b.arrival_ms; }
  };
  std::uint64_t random();
  double uniform() { return static_cast<double>(random() >> 11) * 0x1p-53; }
  void advance();
  void schedule(std::uint32_t device, EpochMs event_ms);
  DemoReading measure(std::uint32_t device, EpochMs event_ms);

  DemoFleetOptions options_;
  std::uint64_t state_;
  EpochMs round_ms_;
  std::uint32_t round_device_ = 0;
  std::priority_queue<DemoReading, std::vector<DemoReading>, Later> on_the_way_;
};

}  // namespace hourfold
