#include <cstdio>

#include "app/assemble.h"
#include "app/commands.h"
#include "app/load_config.h"
#include "app/log.h"
#include "app/run_service.h"

namespace hourfold {

int run_command(const RunOptions& options) {
  if (!set_log_level(options.log_level)) {
    std::fprintf(stderr,
                 "hourfold run: --log-level %s: no such level; use trace, debug, info, warn, error or off\n",
                 options.log_level.c_str());
    return kExitUsage;
  }
  const auto config = load_config(options.config, NeedsKafka::kYes);
  if (!config) return kExitUsage;
  catch_stop_signals();
  auto parts = assemble(*config, system_clock(), log_line());
  if (!parts) return command_failed("run", parts.error());
  return run_service("run", std::move(*parts), HttpAddress::kRequired);
}

}  // namespace hourfold
