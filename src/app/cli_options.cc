#include "app/cli_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace hourfold {

CLI::Option* choice(CLI::Option* option, const std::vector<std::string>& words) {
  std::string names;
  for (const std::string& word : words) names += (names.empty() ? "" : "|") + word;
  option->type_name(names)->check([words, names](const std::string& given) {
    const bool known = std::find(words.begin(), words.end(), given) != words.end();
    return known ? std::string() : "'" + given + "' is not one of " + names;
  });
  return option;
}

void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  command
      .add_option("--set", overrides,
                  "Put a value over the configuration, as in sink.table=rollups; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->check([](const std::string& given) {
        const bool sound = given.find('=') != std::string::npos && given.front() != '=';
        return sound ? std::string() : "'" + given + "' is no KEY=VALUE, as in sink.table=rollups";
      });
}

void add_config(CLI::App& command, ConfigOptions& config) {
  command.add_option("-c,--config", config.file, "The configuration, JSON with comments")->type_name("FILE");
  add_overrides(command, config.overrides);
}

void add_log_level(CLI::App& command, std::string& level) {
  choice(command.add_option("--log-level", level, "How much is said on standard error"),
         {"trace", "debug", "info", "warn", "error", "off"})
      ->capture_default_str();
}

}  // namespace hourfold
