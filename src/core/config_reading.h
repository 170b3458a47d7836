// The `reading` section: which keys belong to which format, and that its pointers can be followed at once.
#pragma once

#include "core/config.h"
#include "core/config_section.h"

namespace hourfold {

void read_reading(ConfigSection section, ReadingConfig& reading);

}  // namespace hourfold
