// What a shape makes of a sample, counted by the parser of the product itself.
//
// Threads: a free function without state.
#pragma once

#include <cstddef>
#include <span>

#include "core/reading_shape.h"
#include "core/record.h"

namespace hourfold {

struct Tried {
  std::size_t readings = 0;
  std::size_t usable = 0;  // with a time of 2000 to 2100
  std::size_t metrics = 0;
};

// A record without key or timestamp is taken to have one.
Tried try_parse(const ReadingShape& shape, std::span<const RecordCopy> records);

}  // namespace hourfold
