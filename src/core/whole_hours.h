// Which hours a log still has wholly. Records leave a log from its front, so what has left arrived no later
// than the first record that is still there, and no accepted reading lies further than max_future after its
// arrival: an hour that begins later than that has all its readings in the log.
//
// Holds for a log whose timestamps do not go back (LogAppendTime, or producers with sound clocks).
#pragma once

#include "core/classify.h"
#include "core/types.h"

namespace hourfold {

// The first hour that begins more than max_future after an arrival.
constexpr HourStart first_hour_after(EpochMs arrival_ms, const ArrivalPolicy& policy) {
  return {HourStart::of(arrival_ms + policy.max_future_ms).ms + kHourMs};
}

}  // namespace hourfold
