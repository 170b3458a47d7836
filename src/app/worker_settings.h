// A partition worker's settings as the configuration has them.
#pragma once

#include "core/config.h"
#include "pipeline/partition_worker.h"

namespace hourfold {

WorkerSettings worker_settings(const Config& config, PartitionId partition, std::int32_t partition_count);

}  // namespace hourfold
