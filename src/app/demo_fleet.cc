#include "app/demo_fleet.h"

#include <cmath>
#include <cstdio>
#include <numbers>

namespace hourfold {
namespace {

double rounded(double value, double digits) { return std::round(value * digits) / digits; }

}  // namespace

DemoFleet::DemoFleet(const DemoFleetOptions& options)
    : options_(options), state_(options.seed * 0x9e3779b97f4a7c15ULL + 1), round_ms_(options.begin_ms) {}

std::uint64_t DemoFleet::random() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return state_;
}

std::string DemoFleet::device_name(std::uint32_t device) {
  char name[24];
  std::snprintf(name, sizeof name, "dev-%06u", device);
  return name;
}

std::uint64_t DemoFleet::expected_readings() const {
  return static_cast<std::uint64_t>(options_.devices) * options_.hours *
         static_cast<std::uint64_t>(kHourMs / options_.interval_ms);
}

std::optional<DemoReading> DemoFleet::next() {
  const EpochMs end = options_.end_ms();
  // What was measured later cannot arrive before the round it belongs to.
  while (round_ms_ < end && (on_the_way_.empty() || on_the_way_.top().arrival_ms >= round_ms_)) advance();
  if (on_the_way_.empty()) return std::nullopt;
  DemoReading reading = on_the_way_.top();
  on_the_way_.pop();
  return reading;
}

void DemoFleet::advance() {
  const EpochMs longest = options_.interval_ms / 4;
  const auto jitter = static_cast<EpochMs>(uniform() * static_cast<double>(longest));
  schedule(round_device_, round_ms_ + jitter);
  if (++round_device_ == options_.devices) {
    round_device_ = 0;
    round_ms_ += options_.interval_ms;
  }
}

void DemoFleet::schedule(std::uint32_t device, EpochMs event_ms) {
  DemoReading reading = measure(device, event_ms);
  const double fate = uniform();
  if (fate < 0.02) {  // held back by a gateway without a link
    reading.arrival_ms += static_cast<EpochMs>(std::exp(uniform() * std::log(12.0 * 60)) * 60'000);
  } else if (fate < 0.023) {
    reading.broken = true;
  } else if (fate < 0.024) {  // a clock ahead
    reading.event_ms += 6 * 60'000 + static_cast<EpochMs>(uniform() * 86'400'000);
  } else if (fate < 0.0245) {  // a clock that lost its battery
    reading.event_ms -= 40LL * 86'400'000;
  }
  on_the_way_.push(reading);
  if (uniform() < 0.02) {  // sent again, as it was or with another value
    reading.arrival_ms += static_cast<EpochMs>(1'000 + uniform() * 600'000);
    if (uniform() < 0.1) reading.values[0] = rounded(*reading.values[0] + 50, 100);
    on_the_way_.push(reading);
  }
}

DemoReading DemoFleet::measure(std::uint32_t device, EpochMs event_ms) {
  const double hour = static_cast<double>(event_ms % 86'400'000) / static_cast<double>(kHourMs);
  const double sun = std::sin((hour - 8) / 24 * 2 * std::numbers::pi);
  DemoReading reading;
  reading.device = device;
  reading.event_ms = event_ms;
  reading.arrival_ms = event_ms + 200 + static_cast<EpochMs>(uniform() * 4'000);
  reading.values[0] = rounded(14 + device % 7 + 8 * sun + uniform(), 100);
  if (uniform() < 0.97) reading.values[1] = rounded(60 - 20 * sun + uniform() * 5, 10);
  reading.values[2] = rounded(3.9 - 0.4 * uniform() * (device % 5), 1000);
  if (device % 3 != 0) reading.values[3] = -50 - std::floor(uniform() * 60);
  return reading;
}

void DemoFleet::write_payload(const DemoReading& reading, std::string& out) {
  out = R"({"device":")" + device_name(reading.device) + R"(","ts":)" + std::to_string(reading.event_ms) +
        R"(,"metrics":{)";
  bool first = true;
  for (std::size_t i = 0; i < reading.values.size(); ++i) {
    if (!reading.values[i]) continue;
    char number[40];
    // Shortest enough: the values have at most three decimals.
    std::snprintf(number, sizeof number, "%s\"%s\":%.10g", first ? "" : ",", kDemoMetrics[i],
                  *reading.values[i]);
    out += number;
    first = false;
  }
  out += R"(},"fw":"4.2.1"})";
  if (!reading.broken) return;
  switch (random() % 5) {
    case 0:
      out.resize(out.size() / 2);
      break;
    case 1:
      out[out.size() - 2] = '\xff';
      break;
    case 2:
      out = R"({"device":"","ts":1,"metrics":{"t":1}})";
      break;
    case 3:
      out += "}";
      break;
    default:
      out = R"({"device":")" + device_name(reading.device) + R"(","metrics":{"t":1}})";
      break;
  }
}

}  // namespace hourfold
