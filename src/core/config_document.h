// The text of a configuration as JSON: comments out, --set values in, and where each key stands.
//
// Errors: Refused: broken JSON with line and column, keys that stand twice in an object, a --set that cannot
// be placed.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hourfold {

struct ConfigDocument {
  std::string name;
  nlohmann::json root;
  std::map<std::string, int> lines;               // by path, as "kafka.brokers"
  std::map<std::string, std::string> overridden;  // by path: the text given with --set

  // "configs/x.json:12: kafka.brokers", or "--set kafka.brokers".
  std::string place_of(const std::string& path) const;
  // For sorting: 0 for what has no line.
  int line_of(const std::string& path) const;
  bool is_overridden(const std::string& path) const;
};

// An empty text is an empty configuration.
Result<ConfigDocument> read_config_document(std::string_view text, std::string_view name,
                                            const std::vector<std::string>& overrides);

}  // namespace hourfold
