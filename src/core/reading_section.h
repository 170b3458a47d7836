// A ReadingShape as the `reading` section that stands for it: what differs from the defaults, ready to copy.
// Reading it back (core/config.h) gives the same shape.
#pragma once

#include <string>
#include <string_view>

#include "core/reading_shape.h"

namespace hourfold {

// As the configuration has them.
std::string_view to_string(PayloadFormat format);
std::string_view to_string(TimeUnit unit);

enum class SectionStyle : bool { kOneLine, kIndented };

// An object in JSON, "{}" where the defaults fit. Indented: a key a line, by two spaces.
std::string reading_section(const ReadingShape& shape, SectionStyle style);

}  // namespace hourfold
