// What must be known of the partitions of a log before it is read again: its bounds, when its first reading
// arrived and which hours it therefore has wholly.
//
// Threads: one. Errors: those of LogReader; Fatal as well where the log changes while it is asked.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "core/config.h"
#include "core/result.h"
#include "kafka/log_reader.h"
#include "payload/avro_schemas.h"
#include "ports/clock.h"

namespace hourfold {

// All partitions, with their bounds.
Result<std::map<PartitionId, LogBounds>> bounds_of_all(LogReader& reader);

// When the first reading of each range arrived. schemas: null where the readings need none; those of the
// records are waited for. A partition without one (empty, or nothing in it could be
// read) is not in the answer.
Result<std::map<PartitionId, EpochMs>> first_arrivals(LogReader& reader,
                                                      const std::map<PartitionId, LogBounds>& ranges,
                                                      const ReadingConfig& reading, AvroSchemas* schemas,
                                                      const std::function<bool()>& stopped);

// Reads until everything was given out. Unavailable: nothing came for a minute although something should
// have, or it was stopped.
Result<void> read_all(LogReader& reader, const std::map<PartitionId, LogBounds>& ranges,
                      const std::function<bool()>& stopped,
                      const std::function<Result<void>(const RecordBatch&)>& on_batch);

}  // namespace hourfold
