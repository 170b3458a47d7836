// What /healthz and /readyz answer, from what the service says of itself.
//
// Well: the process works. Ready: its partitions are open, and the table and the side outputs take what is
// written. A failure that passes within a minute is no reason to say otherwise; restarting helps against
// none.
#pragma once

#include <optional>
#include <string>

#include "app/service.h"

namespace hourfold {

// Empty: all is well.
std::optional<std::string> why_not_well(const Service::Status& status);
std::optional<std::string> why_not_ready(const Service::Status& status);

}  // namespace hourfold
