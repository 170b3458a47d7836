// Makes the parts of the service that a configuration names: the one place that knows which adapter stands
// behind which interface.
#pragma once

#include <functional>
#include <string>

#include "app/service.h"
#include "core/config.h"
#include "core/result.h"

namespace hourfold {

using LogLine = std::function<void(char level, const std::string&)>;

// Connects to nothing yet, but for the topic's retention where the table's TTL depends on it (waits for the
// broker as long as the configuration says). Errors: Refused where the configuration is to blame, Fatal where
// a server is.
Result<ServiceParts> assemble(const Config& config, const Clock& clock, LogLine log);

const Clock& system_clock();

}  // namespace hourfold
