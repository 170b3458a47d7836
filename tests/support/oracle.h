// What a window must be, recomputed the plain way over std::map and std::set: an implementation of
// docs/FORMATS.md that shares no code with src/core, neither for folding nor for the bytes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace hourfold::test {

struct OracleMetric {
  double min = 0;
  double max = 0;
  double sum = 0;
  double compensation = 0;
  std::int64_t count = 0;
  std::set<std::uint32_t> times;
};

using OracleMetrics = std::vector<std::pair<std::string, double>>;

struct OracleWindow {
  enum class Fate { kFolded, kDuplicate, kCounted, kFull };

  std::int64_t revision = 0;
  std::int64_t last_offset = -1;
  std::uint32_t last_index = 0;
  std::int64_t last_arrival = 0;
  std::map<std::string, OracleMetric> metrics;

  Fate fold(const OracleMetrics& reading, std::uint32_t time, std::int64_t offset, std::uint32_t index,
            std::int64_t arrival, bool dedup);
  // Adds what another partition contributes to the same hour; only totals and the revision have a meaning
  // then.
  void merge(const OracleWindow& other);
  std::string encode(bool dedup) const;
};

namespace oracle_detail {

inline bool less(double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

inline void sum_up(OracleMetric& metric, double value) {
  const double big = std::fabs(metric.sum) >= std::fabs(value) ? metric.sum : value;
  const double small = std::fabs(metric.sum) >= std::fabs(value) ? value : metric.sum;
  metric.sum = big + small;
  metric.compensation += (big - metric.sum) + small;
}

inline void add(OracleMetric& metric, double value) {
  if (metric.count == 0 || less(value, metric.min)) metric.min = value;
  if (metric.count == 0 || less(metric.max, value)) metric.max = value;
  if (metric.count == 0) {
    metric.sum = value;
  } else {
    sum_up(metric, value);
  }
  ++metric.count;
}

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value > 127; value /= 128) out += static_cast<char>(128 + value % 128);
  return out + static_cast<char>(value);
}

inline std::string be64(std::uint64_t value) {
  std::string out;
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

inline std::string times(const std::set<std::uint32_t>& times) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;
  std::string list = varint(times.size());
  std::uint32_t before = 0;
  for (const std::uint32_t time : times) {
    list += varint(time - before);
    if (!runs.empty() && runs.back().first == time - before) {
      ++runs.back().second;
    } else {
      runs.emplace_back(time - before, 1);
    }
    before = time;
  }
  std::string short_form = varint(runs.size());
  for (const auto& [distance, repeat] : runs) short_form += varint(distance) + varint(repeat);
  return short_form.size() <= list.size() ? std::string(1, '\0') + short_form : std::string(1, '\1') + list;
}

}  // namespace oracle_detail

inline OracleWindow::Fate OracleWindow::fold(const OracleMetrics& reading, std::uint32_t time,
                                             std::int64_t offset, std::uint32_t index, std::int64_t arrival,
                                             bool dedup) {
  if (std::tie(offset, index) <= std::tie(last_offset, last_index)) return Fate::kCounted;
  OracleMetrics fresh;
  std::size_t names = metrics.size();
  for (const auto& [name, value] : reading) {
    const auto known = metrics.find(name);
    if (known == metrics.end()) ++names;
    if (known == metrics.end() || !dedup || !known->second.times.contains(time))
      fresh.emplace_back(name, value);
  }
  if (fresh.empty()) return Fate::kDuplicate;
  if (names > 4096) return Fate::kFull;
  for (const auto& [name, value] : fresh) {
    oracle_detail::add(metrics[name], value);
    metrics[name].times.insert(time);
  }
  ++revision;
  std::tie(last_offset, last_index, last_arrival) = std::tie(offset, index, arrival);
  return Fate::kFolded;
}

inline void OracleWindow::merge(const OracleWindow& other) {
  revision += other.revision;
  for (const auto& [name, theirs] : other.metrics) {
    const auto [at, first] = metrics.try_emplace(name, theirs);
    if (first) continue;
    OracleMetric& ours = at->second;
    if (oracle_detail::less(theirs.min, ours.min)) ours.min = theirs.min;
    if (oracle_detail::less(ours.max, theirs.max)) ours.max = theirs.max;
    oracle_detail::sum_up(ours, theirs.sum);
    oracle_detail::sum_up(ours, theirs.compensation);
    ours.count += theirs.count;
  }
}

inline std::string OracleWindow::encode(bool dedup) const {
  using namespace oracle_detail;
  std::string out{'\1', dedup ? '\1' : '\0'};
  out += varint(static_cast<std::uint64_t>(revision)) + varint(static_cast<std::uint64_t>(last_offset + 1)) +
         varint(last_index);
  out += be64(static_cast<std::uint64_t>(last_arrival)) + varint(metrics.size());
  std::vector<const std::set<std::uint32_t>*> sets;
  for (const auto& [name, metric] : metrics) {
    out += varint(name.size()) + name;
    for (const double value : {metric.min, metric.max, metric.sum, metric.compensation})
      out += be64(std::bit_cast<std::uint64_t>(value));
    out += varint(static_cast<std::uint64_t>(metric.count));
    if (!dedup) continue;
    std::size_t at = 0;
    while (at < sets.size() && *sets[at] != metric.times) ++at;
    if (at == sets.size()) sets.push_back(&metric.times);
    out += varint(at);
  }
  if (dedup) out += varint(sets.size());
  for (const auto* set : sets) out += times(*set);
  return out;
}

}  // namespace hourfold::test
