// What may be a time of a measurement, whatever it is called: from 2000 to 2100, in a unit that its magnitude
// tells.
//
// Threads: free functions without state.
#pragma once

#include <optional>
#include <string_view>

#include "core/reading_shape.h"
#include "core/types.h"

namespace hourfold {

inline constexpr EpochMs kPlausibleFromMs = 946'684'800'000;  // 2000-01-01
inline constexpr EpochMs kPlausibleToMs = 4'102'444'800'000;  // 2100-01-01

inline bool is_plausible(EpochMs ms) { return ms >= kPlausibleFromMs && ms < kPlausibleToMs; }

// The ranges of the units do not meet.
inline std::optional<TimeUnit> plausible_unit(double number) {
  const auto within = [number](double unit_in_ms) {
    const double ms = number * unit_in_ms;
    return ms >= static_cast<double>(kPlausibleFromMs) && ms < static_cast<double>(kPlausibleToMs);
  };
  if (within(1e3)) return TimeUnit::kSeconds;
  if (within(1)) return TimeUnit::kMs;
  if (within(1e-3)) return TimeUnit::kUs;
  if (within(1e-6)) return TimeUnit::kNs;
  return std::nullopt;
}

// A time in a text.
struct TextTime {
  TimeUnit unit;
  bool names_zone = true;
};
std::optional<TextTime> plausible_text(std::string_view text);

}  // namespace hourfold
