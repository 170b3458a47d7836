// A ReadingShape as the `reading` section that stands for it: what differs from the defaults, ready to copy.
// Reading it back (core/config.h) gives the same shape.
#pragma once

#include <string>

#include "core/reading_shape.h"

namespace hourfold {

enum class SectionStyle : bool { kOneLine, kIndented };

// An object in JSON, "{}" where the defaults fit. Indented: a key a line, by two spaces.
std::string reading_section(const ReadingShape& shape, SectionStyle style);

}  // namespace hourfold
