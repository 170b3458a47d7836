#include "app/demo_oracle.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

namespace hourfold {
namespace {

// A sum kept as a list of doubles that do not overlap, hence exact.
class ExactSum {
 public:
  void add(double x) {
    std::size_t kept = 0;
    for (double y : partials_) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      const double high = x + y;
      const double low = y - (high - x);
      if (low != 0.0) partials_[kept++] = low;
      x = high;
    }
    partials_.resize(kept);
    partials_.push_back(x);
  }
  // The partials do not overlap, so the first addition that is not exact has the rounded sum, unless it was a
  // tie: then the sign of what lies below decides.
  double rounded() const {
    double sum = 0;
    double error = 0;
    std::size_t left = partials_.size();
    while (left > 0 && error == 0) {
      const double before = sum;
      const double next = partials_[--left];
      sum = before + next;
      error = next - (sum - before);
    }
    if (left > 0 && ((error < 0 && partials_[left - 1] < 0) || (error > 0 && partials_[left - 1] > 0))) {
      const double twice = error * 2;
      if (const double other = sum + twice; twice == other - sum) return other;
    }
    return sum;
  }

 private:
  std::vector<double> partials_;
};

std::string text_of(const Rollup& rollup) {
  char text[128];
  std::snprintf(text, sizeof text, "min %.17g max %.17g sum %.17g count %lld", rollup.min, rollup.max,
                rollup.sum, static_cast<long long>(rollup.count));
  return text;
}

constexpr EpochMs kFuture = 5 * 60'000;
constexpr EpochMs kAge = 29LL * 86'400'000;

}  // namespace

void DemoOracle::sent(const DemoReading& reading) {
  ++sent_;
  if (reading.broken || reading.event_ms > reading.arrival_ms + kFuture ||
      reading.event_ms < reading.arrival_ms - kAge)
    return;
  const EpochMs hour = reading.event_ms - reading.event_ms % kHourMs;
  if (reading.arrival_ms >= hour + 2 * kHourMs) ++late_;
  hours_[{reading.device, hour}].push_back(reading);
}

DemoOracle::Expected DemoOracle::expected_of(const Hour& readings) {
  Expected expected;
  std::map<std::string, ExactSum> sums;
  std::set<std::pair<std::string, EpochMs>> seen;
  for (const DemoReading& reading : readings) {
    bool counts = false;
    for (std::size_t i = 0; i < kDemoMetrics.size(); ++i) {
      if (!reading.values[i] || !seen.emplace(kDemoMetrics[i], reading.event_ms).second) continue;
      counts = true;
      const double value = *reading.values[i];
      const auto [at, first] = expected.metrics.try_emplace(kDemoMetrics[i], Rollup{value, value, 0, 0});
      at->second.min = std::min(at->second.min, value);
      at->second.max = std::max(at->second.max, value);
      ++at->second.count;
      sums[kDemoMetrics[i]].add(value);
    }
    expected.revision += counts ? 1 : 0;
  }
  for (auto& [metric, rollup] : expected.metrics) rollup.sum = sums[metric].rounded();
  return expected;
}

Result<DemoOracle::Verdict> DemoOracle::compare(RollupTable& table, std::uint32_t buckets,
                                                RowLayout layout) const {
  Verdict verdict;
  const auto differs = [&](const std::string& what) {
    ++verdict.differ;
    if (verdict.examples.size() < 5) verdict.examples.push_back(what);
  };
  std::uint64_t matched = 0;
  for (const auto& [key, readings] : hours_) {
    const Expected expected = expected_of(readings);
    const std::string device = DemoFleet::device_name(key.first);
    auto row = table.get(row_key(device, {key.second}, buckets));
    if (!row) return row.error();
    if (!*row) {
      differs(device + ": an hour is missing");
      continue;
    }
    ++matched;
    std::map<std::string, Rollup> found;
    for (const StoredCell& cell : (*row)->cells) {
      if (cell.family != 'r') continue;
      ++verdict.cells;
      std::string_view metric;
      Rollup one;
      if (!read_rollup_cell(cell.qualifier, cell.value, layout, metric, one))
        differs(device + ": a strange cell " + cell.qualifier);
      Rollup& whole = found[std::string(metric)];
      read_rollup_cell(cell.qualifier, cell.value, layout, metric, whole);
      if (cell.timestamp != key.second + expected.revision) differs(device + ": a cell of another revision");
    }
    for (const auto& [metric, rollup] : expected.metrics) {
      if (const auto at = found.find(metric); at == found.end()) {
        differs(device + " " + metric + ": missing");
      } else if (at->second != rollup) {
        differs(device + " " + metric + " of hour " + std::to_string(key.second) + ": is " +
                text_of(at->second) + ", must be " + text_of(rollup));
      }
    }
    if (found.size() > expected.metrics.size()) differs(device + ": a metric that was never sent");
  }
  auto scanned = table.scan("", std::string(meta_row_key()), false, [&](const StoredRow&) {
    ++verdict.rows;
    return true;
  });
  if (!scanned) return scanned.error();
  if (verdict.rows != matched)
    differs("rows that should not be there: " + std::to_string(verdict.rows - matched));
  return verdict;
}

}  // namespace hourfold
