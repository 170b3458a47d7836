#include "app/worker_settings.h"

#include "pipeline/memory_shares.h"

namespace hourfold {

WorkerSettings worker_settings(const Config& config, PartitionId partition, std::int32_t partition_count,
                               AvroSchemas* schemas) {
  WorkerSettings settings;
  settings.topic = config.kafka.topics.front();
  settings.partition = partition;
  settings.shape = config.reading.shape;
  settings.schemas = schemas;
  settings.deduplicate = config.reading.deduplicate;
  settings.max_metrics = config.reading.max_metrics;
  // A topic of one partition keeps every device in one partition whatever its keys are.
  settings.check_keys = config.kafka.partitioning == Partitioning::kByDevice && partition_count > 1;
  settings.policy = config.policy;
  settings.emit.refresh_ms = config.emit.refresh_ms;
  settings.emit.late_delay_ms = config.emit.late_delay_ms;
  settings.layout = config.sink.layout;
  settings.buckets = config.sink.buckets;
  settings.checkpoint_ms = config.state.checkpoint_ms;
  settings.retention_ms = config.state.retention_ms;
  const MemoryShares shares = MemoryShares::of(config.state.memory_bytes, partition_count);
  settings.memory_bytes = shares.windows;
  settings.max_outbox = shares.outbox_windows;
  settings.max_waiting_bytes = shares.waiting;
  settings.max_side_bytes = shares.side;
  return settings;
}

}  // namespace hourfold
