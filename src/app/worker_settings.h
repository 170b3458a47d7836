// A partition worker's settings as the configuration has them. schemas: null, or they outlive the worker.
#pragma once

#include "core/config.h"
#include "pipeline/partition_worker.h"

namespace hourfold {

WorkerSettings worker_settings(const Config& config, PartitionId partition, std::int32_t partition_count,
                               AvroSchemas* schemas);

}  // namespace hourfold
