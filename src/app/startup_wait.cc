#include "app/startup_wait.h"

#include <chrono>
#include <thread>

#include "core/config.h"

namespace hourfold {

Result<void> until_ready(const StartupWait& wait, const std::string& what,
                         const std::function<Result<void>()>& attempt) {
  const std::int64_t deadline = wait.clock.steady_ms() + wait.timeout_ms;
  std::string said;
  while (true) {
    Result<void> outcome = attempt();
    if (outcome || !outcome.error().retryable()) return outcome;
    if (wait.stopped()) return unavailable("stopped while waiting for " + what);
    if (wait.clock.steady_ms() >= deadline) {
      return fatal(outcome.error().message + " (gave up after " + format_duration(wait.timeout_ms) + ")");
    }
    if (said != outcome.error().message)
      wait.log('w', "waiting for " + what + ": " + outcome.error().message);
    said = outcome.error().message;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace hourfold
