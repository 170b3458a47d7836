// A sample in Avro as the JSON that it stands for, for who looks at samples: proposals and explanations.
//
// Threads: free functions without state.
#pragma once

#include <optional>

#include "core/reading_shape.h"
#include "core/record.h"
#include "payload/avro_schemas.h"

namespace hourfold {

// The record with its value in JSON. Empty if it has no value, its schema is not known, or it is not as that
// says.
std::optional<RecordCopy> avro_sample_as_json(const RecordCopy& record, const ReadingShape& shape,
                                              AvroSchemas& schemas);

// How that is read, and how a proposal for it reads the sample itself.
ReadingShape json_shape_of(ReadingShape avro);
ReadingShape avro_shape_of(ReadingShape json, const ReadingShape& avro);

}  // namespace hourfold
