// A generated partition: records as a topic holds them, and for each reading what must become of it.
#pragma once

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/types.h"
#include "support/oracle.h"
#include "support/random.h"

namespace hourfold::test {

// Bounds of the simulated service: hours pass quickly, so that windows expire within a short history.
inline constexpr EpochMs kSimStart = 1'767'225'600'000;
inline constexpr EpochMs kSimMaxFuture = 5 * 60'000;
inline constexpr EpochMs kSimMaxAge = 7 * kHourMs;

struct SimReading {
  enum class Kind { kGood, kHeartbeat, kMalformed };
  Kind kind = Kind::kGood;
  std::string device;
  EpochMs event_ms = 0;
  OracleMetrics metrics;
};

struct SimRecord {
  bool marker = false;  // of a transaction: an offset without a record
  EpochMs timestamp_ms = 0;
  std::string key;
  std::optional<std::string> value;
  std::vector<SimReading> readings;
};

struct SimExpected {
  enum class Fate { kNothing, kFolded, kSide } fate = Fate::kNothing;
  std::string side;  // channel and reason
  WindowKey window;
  std::int64_t revision = 0;  // of the window once it is folded
};

struct SimLogOptions {
  bool dedup = true;
  bool one_device_a_record = false;
  double late = .22;  // share of readings that come hours after their time
  int late_hours = 6;
  bool markers = false;
  bool wide = false;  // one device has so many metrics that some readings do not fit
};

class SimLog {
 public:
  SimLog(Random& random, SimLogOptions options)
      : random_(random), options_(options), devices_(random.pick({1, 2, 2, 3})) {}

  void produce(EpochMs now);

  Offset first() const { return first_; }
  Offset end() const { return {static_cast<std::int64_t>(records_.size())}; }
  void truncate(Offset first) { first_ = std::max(first_, first); }
  const SimRecord& at(Offset offset) const { return records_[static_cast<std::size_t>(offset.value)]; }
  const std::vector<SimExpected>& expected(Offset offset) const {
    return expected_[static_cast<std::size_t>(offset.value)];
  }
  const std::map<WindowKey, OracleWindow>& windows() const { return windows_; }
  const SimLogOptions& options() const { return options_; }

 private:
  SimReading reading(EpochMs now, const std::string& device);
  OracleMetrics metrics();
  std::optional<SimReading> again(const std::string& device);
  SimExpected expect(const SimReading& reading, EpochMs arrival, Offset offset, std::uint32_t index);
  std::string device() { return "d" + std::to_string(random_.below(static_cast<std::size_t>(devices_))); }

  Random& random_;
  SimLogOptions options_;
  int devices_;
  Offset first_;
  std::vector<SimRecord> records_;
  std::vector<std::vector<SimExpected>> expected_;
  std::vector<SimReading> past_;
  std::map<WindowKey, OracleWindow> windows_;
};

namespace sim_detail {

inline std::string number(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

inline std::string json(const SimReading& reading) {
  std::string out = "{";
  if (reading.kind != SimReading::Kind::kMalformed) out += "\"device\":\"" + reading.device + "\",";
  out += "\"ts\":" + std::to_string(reading.event_ms) + ",\"metrics\":{";
  for (const auto& [name, value] : reading.metrics) {
    if (out.back() != '{') out += ",";
    out += "\"" + name + "\":" + number(value);
  }
  return out + "}}";
}

}  // namespace sim_detail

inline OracleMetrics SimLog::metrics() {
  static const std::vector<double> kValues{0.1, 0.4, 3.0, -2.5, 1e16, -1e16, 0.7, -0.0, 0.0, 1e-9};
  OracleMetrics out;
  for (const char* name : {"c", "a", "b"}) {
    if (random_.chance(.55)) out.emplace_back(name, random_.pick(kValues));
  }
  if (out.empty()) out.emplace_back("a", 1.0);
  return out;
}

inline std::optional<SimReading> SimLog::again(const std::string& device) {
  std::vector<const SimReading*> candidates;
  for (const SimReading& reading : past_) {
    if (reading.device == device) candidates.push_back(&reading);
  }
  if (candidates.empty()) return std::nullopt;
  const std::size_t recent =
      std::min<std::size_t>(candidates.size(), random_.chance(.7) ? 8 : candidates.size());
  SimReading reading = *candidates[candidates.size() - 1 - random_.below(recent)];
  if (random_.chance(.5)) reading.metrics = metrics();
  return reading;
}

inline SimReading SimLog::reading(EpochMs now, const std::string& device) {
  SimReading reading;
  reading.device = device;
  const double x = static_cast<double>(random_.below(1000)) / 1000;
  if (x < .18) {
    if (auto repeated = again(device)) return *repeated;
  }
  EpochMs lag = 0;
  if (x < .90) {
    lag = random_.chance(options_.late)
              ? random_.between(1, options_.late_hours) * kHourMs + random_.between(0, kHourMs - 1)
              : random_.between(-4 * 60'000, 40 * 60'000);
  } else if (x < .93) {
    lag = kSimMaxAge + random_.between(1, 2 * kHourMs);
  } else if (x < .96) {
    lag = -kSimMaxFuture - random_.between(1, 3 * kHourMs);
  }
  // A grid makes equal event times and regular cadences likely.
  reading.event_ms = random_.chance(.6) ? (now - lag) / 600'000 * 600'000 : now - lag;
  reading.metrics = metrics();
  if (options_.wide && device == "d0" && random_.chance(.3)) {
    const bool base = random_.chance(.5);
    for (int i = 0; i < (base ? 4090 : 10); ++i)
      reading.metrics.emplace_back((base ? "m" : "x") + std::to_string(i), 1.5);
  }
  if (x >= .98) {
    reading.kind = SimReading::Kind::kMalformed;
  } else if (x >= .96) {
    reading.kind = SimReading::Kind::kHeartbeat;
    reading.metrics.clear();
  } else {
    past_.push_back(reading);
  }
  return reading;
}

inline void SimLog::produce(EpochMs now) {
  SimRecord record;
  record.timestamp_ms = now;
  record.key = device();
  record.marker = options_.markers && random_.chance(.2);
  if (record.marker || random_.chance(.02)) {  // or a tombstone
    records_.push_back(record);
    expected_.emplace_back();
    return;
  }
  const std::size_t count = random_.chance(.8) ? 1 : 2 + random_.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    record.readings.push_back(reading(now, i == 0 || options_.one_device_a_record ? record.key : device()));
  }
  std::string text;
  const bool array = count > 1 && random_.chance(.5);
  for (const SimReading& one : record.readings)
    text += (text.empty() ? "" : array ? "," : "\n") + sim_detail::json(one);
  record.value = array ? "[" + text + "]" : text;
  const Offset offset = end();
  std::vector<SimExpected> expected;
  for (const SimReading& one : record.readings) {
    expected.push_back(expect(one, now, offset, static_cast<std::uint32_t>(expected.size())));
  }
  records_.push_back(std::move(record));
  expected_.push_back(std::move(expected));
}

inline SimExpected SimLog::expect(const SimReading& reading, EpochMs arrival, Offset offset,
                                  std::uint32_t index) {
  using Fate = SimExpected::Fate;
  if (reading.kind == SimReading::Kind::kMalformed) return {Fate::kSide, "dead_letter no_device", {}, 0};
  if (reading.event_ms > arrival + kSimMaxFuture) return {Fate::kSide, "quarantine future", {}, 0};
  if (reading.event_ms < arrival - kSimMaxAge) return {Fate::kSide, "archive too_old", {}, 0};
  if (reading.metrics.empty()) return {};
  const EpochMs hour = reading.event_ms - reading.event_ms % kHourMs;
  const WindowKey key{{hour}, reading.device};
  OracleWindow& window = windows_[key];
  const auto time = static_cast<std::uint32_t>(reading.event_ms - hour);
  switch (window.fold(reading.metrics, time, offset.value, index, arrival, options_.dedup)) {
    case OracleWindow::Fate::kFolded:
      return {Fate::kFolded, {}, key, window.revision};
    case OracleWindow::Fate::kFull:
      return {Fate::kSide, "dead_letter contribution_full", key, 0};
    case OracleWindow::Fate::kDuplicate:
    case OracleWindow::Fate::kCounted:
      return {Fate::kNothing, {}, key, 0};
  }
  return {};
}

}  // namespace hourfold::test
