// Log lines of the program, on stderr, by spdlog.
#pragma once

#include <string>

#include "app/assemble.h"

namespace hourfold {

// "trace" to "error", "off". False: no such level.
bool set_log_level(const std::string& level);
LogLine log_line();

}  // namespace hourfold
