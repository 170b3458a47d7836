// Why a reading of a sample is not read, in words: what was looked for and where, what was there, what to
// set. For people; dead letters and counters have the reason's name alone (core/reading.h).
//
// Threads: free functions without state. Errors: none.
#pragma once

#include <cstddef>
#include <string>

#include "core/reading.h"
#include "core/reading_shape.h"
#include "core/record.h"

namespace hourfold {

// index, count: of the reading in its record, and how many that has.
struct SamplePlace {
  const ReadingShape& shape;
  const RecordCopy& record;
  std::size_t index;
  std::size_t count;
};

// A sentence or two. The record has a value.
std::string explain_malformed(Malformed reason, const SamplePlace& place);

// Of a time that is sound, but hardly one of a measurement: outside 2000 to 2100. Empty if all is well.
std::string explain_time(EpochMs event_ms, const SamplePlace& place);

// Which metrics of a record were left out for this reason and what would take them.
std::string explain_rejected(MetricReject reason, std::size_t count, const ReadingShape& shape,
                             const RecordCopy& record);

}  // namespace hourfold
