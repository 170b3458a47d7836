// Waits for what the service needs at its start: tries, says once what is missing, and gives up after the
// configured time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "app/assemble.h"
#include "core/result.h"
#include "ports/clock.h"

namespace hourfold {

struct StartupWait {
  const Clock& clock;
  std::int64_t timeout_ms;
  LogLine log;
  std::function<bool()> stopped = [] { return false; };
};

// Until an attempt succeeds or fails for good. Fatal after the timeout, Unavailable once stopped.
Result<void> until_ready(const StartupWait& wait, const std::string& what,
                         const std::function<Result<void>()>& attempt);

}  // namespace hourfold
