// The terminal that standard output may be.
#pragma once

#include <cstddef>

namespace hourfold {

// Columns; of COLUMNS or 80 where it is no terminal.
std::size_t terminal_width();
// Whether to use colours: a terminal, and nobody said no (NO_COLOR, TERM=dumb).
bool has_colour();

}  // namespace hourfold
