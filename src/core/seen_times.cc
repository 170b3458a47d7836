#include "core/seen_times.h"

#include <algorithm>

#include "core/types.h"

namespace hourfold {
namespace {

// Devices with a steady cadence repeat one distance; those with jitter do not, and then a plain list of
// distances is shorter.
enum Mode : std::uint8_t { kRuns = 0, kDistances = 1 };

struct Run {
  std::uint32_t distance;
  std::uint32_t repeat;
};

// The one that is written.
Mode shorter_mode(const std::vector<Run>& runs, std::size_t times) {
  std::size_t runs_size = varint_size(runs.size());
  std::size_t distances_size = varint_size(times);
  for (const Run& run : runs) {
    runs_size += varint_size(run.distance) + varint_size(run.repeat);
    distances_size += varint_size(run.distance) * run.repeat;
  }
  return runs_size <= distances_size ? kRuns : kDistances;
}

std::vector<Run> runs_of(const std::vector<std::uint32_t>& times) {
  std::vector<Run> runs;
  std::uint32_t before = 0;
  for (const std::uint32_t time : times) {
    const std::uint32_t distance = time - before;
    if (!runs.empty() && runs.back().distance == distance) {
      ++runs.back().repeat;
    } else {
      runs.push_back({distance, 1});
    }
    before = time;
  }
  return runs;
}

}  // namespace

bool SeenTimes::contains(std::uint32_t time) const {
  if (times_.empty() || time > times_.back()) return false;
  return std::binary_search(times_.begin(), times_.end(), time);
}

bool SeenTimes::insert(std::uint32_t time) {
  if (times_.empty() || time > times_.back()) {
    times_.push_back(time);
    return true;
  }
  const auto at = std::lower_bound(times_.begin(), times_.end(), time);
  if (*at == time) return false;
  times_.insert(at, time);
  return true;
}

std::size_t SeenTimes::hash() const {
  std::size_t hash = times_.size();
  for (const std::uint32_t time : times_) hash = (hash ^ time) * 0x9e3779b97f4a7c15ULL;
  return hash;
}

void SeenTimes::append_to(std::string& out) const {
  const std::vector<Run> runs = runs_of(times_);
  if (shorter_mode(runs, times_.size()) == kRuns) {
    put_u8(out, kRuns);
    put_varint(out, runs.size());
    for (const Run& run : runs) {
      put_varint(out, run.distance);
      put_varint(out, run.repeat);
    }
    return;
  }
  put_u8(out, kDistances);
  put_varint(out, times_.size());
  for (const Run& run : runs) {
    for (std::uint32_t i = 0; i < run.repeat; ++i) put_varint(out, run.distance);
  }
}

std::optional<SeenTimes> SeenTimes::read_from(ByteReader& in) {
  const std::uint8_t mode = in.u8();
  const std::uint64_t entries = in.varint();
  if (!in.ok() || mode > kDistances || entries > static_cast<std::uint64_t>(kHourMs)) return std::nullopt;
  SeenTimes seen;
  std::uint64_t time = 0;
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t distance = in.varint();
    const std::uint64_t repeat = mode == kRuns ? in.varint() : 1;
    if (!in.ok() || repeat == 0 || distance >= static_cast<std::uint64_t>(kHourMs)) return std::nullopt;
    for (std::uint64_t k = 0; k < repeat; ++k) {
      // Only the very first distance may be zero: times are unique.
      if (distance == 0 && !seen.times_.empty()) return std::nullopt;
      time += distance;
      if (time >= static_cast<std::uint64_t>(kHourMs)) return std::nullopt;
      seen.times_.push_back(static_cast<std::uint32_t>(time));
    }
  }
  const std::vector<Run> runs = runs_of(seen.times_);
  const bool split_run = mode == kRuns && runs.size() != entries;
  if (split_run || shorter_mode(runs, seen.size()) != mode) return std::nullopt;
  return seen;
}

}  // namespace hourfold
