// Late or early is decided by the event time and the arrival that Kafka recorded, never by a clock, so a
// replay decides the same. Source: docs/FORMATS.md, "Arrival"; both bounds are inclusive.
#pragma once

#include "core/types.h"

namespace hourfold {

struct ArrivalPolicy {
  EpochMs max_future_ms = 5 * 60'000;
  EpochMs max_age_ms = 29LL * 24 * kHourMs;
};

enum class Verdict { kFold, kQuarantine, kArchive };

constexpr Verdict classify(EpochMs event_ms, EpochMs arrival_ms, const ArrivalPolicy& policy) {
  if (event_ms > arrival_ms + policy.max_future_ms) return Verdict::kQuarantine;
  if (event_ms < arrival_ms - policy.max_age_ms) return Verdict::kArchive;
  return Verdict::kFold;
}

}  // namespace hourfold
