// The Avro schemas that a configuration names, and waiting for those of a batch.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "app/assemble.h"
#include "core/config.h"
#include "payload/avro_schemas.h"
#include "ports/record_source.h"

namespace hourfold {

// Refused: what the configuration says is no schema, or no address of a registry.
Result<void> check_schemas(const ReadingShape& shape);

// Null where the shape needs none. Connects to nothing yet. Errors: those of check_schemas().
Result<std::unique_ptr<AvroSchemas>> open_schemas(const ReadingShape& shape, LogLine log);

// The ids in front of the values, each once.
std::vector<std::int32_t> schema_ids(const RecordBatch& batch);

// For who has nothing else to do meanwhile. schemas: null, or there is nothing to wait for. Fatal after a
// minute, Unavailable once stopped.
Result<void> wait_for_schemas(AvroSchemas* schemas, std::span<const std::int32_t> ids,
                              const std::function<bool()>& stopped);

}  // namespace hourfold
