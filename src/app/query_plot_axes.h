// The axes of a plot on a terminal: where values and times lie, and what is written beside them.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/query_range.h"
#include "core/types.h"

namespace hourfold {

// From the least to the greatest value, with ticks at the round ones between.
class ValueAxis {
 public:
  ValueAxis(double least, double greatest, std::size_t rows);

  // Dots from the bottom, below dots_high.
  std::size_t dot(double value, std::size_t dots_high) const;
  // Text beside a row, counted from the top; only where a round value lies.
  std::optional<std::string> label(std::size_t row, std::size_t rows) const;
  std::size_t label_columns() const { return label_columns_; }

 private:
  double low_;
  double high_;
  std::vector<double> ticks_;
  std::vector<std::string> texts_;
  std::size_t label_columns_ = 0;
};

// Whole steps from first to the end of last, as wide as there is room but no step wider than a few columns.
struct TimeAxis {
  TimeAxis(EpochMs first, EpochMs last, Step step, std::size_t room, std::size_t columns_per_step_max);

  EpochMs begin_of(std::size_t dot) const;  // time at the left edge of a column of dots
  std::string ruler() const;                // the line below the drawing, with its ticks
  std::string labels() const;               // the line below that

  EpochMs begin;
  EpochMs end;
  std::size_t columns;
  std::size_t dots;  // two a column

 private:
  struct Tick {
    std::size_t column;
    std::string text;
  };
  std::vector<Tick> ticks_;
};

}  // namespace hourfold
