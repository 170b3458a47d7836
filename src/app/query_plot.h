// A metric's rollups drawn on a terminal: the band from min to max in shade, the average as a line of braille
// dots.
//
// Pure: the size and whether there is colour are arguments.
#pragma once

#include <cstddef>
#include <string>

#include "app/query_range.h"
#include "app/query_rollups.h"

namespace hourfold {

struct PlotSize {
  std::size_t width = 80;   // columns of all lines; at least kMinPlotWidth are taken
  std::size_t height = 10;  // lines of the drawing itself
  bool colour = false;
};
inline constexpr std::size_t kMinPlotWidth = 40;

// first, last: start of the first and last step of the time axis, so that plots of several metrics stand
// above one another.
std::string plot_text(const std::string& metric, const Series& series, Step step, EpochMs first, EpochMs last,
                      const PlotSize& size);
// What the signs mean.
std::string plot_legend(bool colour);

}  // namespace hourfold
