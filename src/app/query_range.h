// Times as users write them, and the hours, days and months (UTC) that rollups are added up to.
//
// Pure: the present is an argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/result.h"
#include "core/types.h"

namespace hourfold {

enum class Step : std::uint8_t { kHour, kDay, kMonth };
std::string_view to_string(Step step);  // "hour", "day", "month"

// First millisecond of the hour, day or month in which the time lies, and of the next one.
EpochMs step_start(EpochMs time, Step step);
EpochMs next_step(EpochMs start, Step step);

// A moment that a user named, or a span: a date is its day, a month its month.
struct NamedTime {
  EpochMs begin = 0;
  EpochMs end = 0;  // of a moment: the same as begin
};
// 2026-01-31, 2026-01, 2026-01-31T06:00[:00[.000]][Z or +01:00], with a blank for the T, without offset in
// UTC; epoch milliseconds; now; -24h, -7d, -90m before now. Refused: anything else.
Result<NamedTime> parse_named_time(std::string_view text, EpochMs now);

// Half open; whole steps. A bound that the user left out is lowest or highest.
struct HourRange {
  HourStart from = HourStart::lowest();
  HourStart to = HourStart::highest();
};
// from and to as given ("" or "all": no bound), widened to whole steps, so that no day or month is shown that
// lacks hours of its own.
Result<HourRange> parse_range(std::string_view from, std::string_view to, Step step, EpochMs now);

}  // namespace hourfold
