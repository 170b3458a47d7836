// The quantities of the field as types of their own, so that an offset is never taken for a revision.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace hourfold {

// Milliseconds since 1970-01-01T00:00:00Z.
using EpochMs = std::int64_t;

inline constexpr EpochMs kHourMs = 3'600'000;

// Floor division: hours before 1970 round down, too.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - static_cast<std::int64_t>(a % b != 0 && (a % b < 0) != (b < 0));
}

// First millisecond of an hour, UTC. Always a multiple of kHourMs, except for the two bounds.
struct HourStart {
  EpochMs ms = 0;

  static constexpr HourStart of(EpochMs time) { return {floor_div(time, kHourMs) * kHourMs}; }
  static constexpr HourStart lowest() { return {std::numeric_limits<EpochMs>::min()}; }
  static constexpr HourStart highest() { return {std::numeric_limits<EpochMs>::max()}; }
  constexpr EpochMs end_ms() const { return ms + kHourMs; }
  auto operator<=>(const HourStart&) const = default;
};

// Position of a record in a partition of the topic.
struct Offset {
  std::int64_t value = 0;

  constexpr Offset next() const { return {value + 1}; }
  auto operator<=>(const Offset&) const = default;
};

// Position of a reading: the record's offset, then the reading's index in the record.
struct Position {
  Offset offset{-1};
  std::uint32_t index = 0;

  auto operator<=>(const Position&) const = default;
};

// Number of readings folded into a window (of one partition), or the sum of those of several.
struct Revision {
  std::int64_t value = 0;

  constexpr Revision next() const { return {value + 1}; }
  auto operator<=>(const Revision&) const = default;
};

// Last revision that has a cell timestamp of its own within the hour (docs/FORMATS.md, "Cell timestamps").
inline constexpr Revision kMaxRevision{3'599'999};

// Raised by a rebuild: every cell of a generation outranks all cells of the generations below.
struct Generation {
  std::int32_t value = 0;

  auto operator<=>(const Generation&) const = default;
};

struct PartitionId {
  std::int32_t value = 0;

  auto operator<=>(const PartitionId&) const = default;
};

// One device's hour.
struct WindowKey {
  HourStart hour;
  std::string device;

  auto operator<=>(const WindowKey&) const = default;
};

}  // namespace hourfold
