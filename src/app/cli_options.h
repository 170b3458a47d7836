// Options that several commands have.
#pragma once

#include <string>
#include <vector>

#include "app/commands.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hourfold {

// One of a few words. The names stand in the help as FILE does for a file, and completion reads them there.
CLI::Option* choice(CLI::Option* option, const std::vector<std::string>& words);

// --set KEY=VALUE
void add_overrides(CLI::App& command, std::vector<std::string>& overrides);
// -c FILE and --set KEY=VALUE
void add_config(CLI::App& command, ConfigOptions& config);

void add_log_level(CLI::App& command, std::string& level);

}  // namespace hourfold
