// The configuration that a command line names.
#pragma once

#include <optional>

#include "app/commands.h"
#include "core/config.h"

namespace hourfold {

enum class NeedsKafka : bool { kNo, kYes };

// Reads the file (none: defaults alone), puts the overrides over it and looks secrets up in the environment
// and in files. Empty after the error was printed; the command ends with kExitUsage.
std::optional<Config> load_config(const ConfigOptions& options, NeedsKafka needs);

}  // namespace hourfold
