#include "app/worker_settings.h"

#include <algorithm>

namespace hourfold {

WorkerSettings worker_settings(const Config& config, PartitionId partition, std::int32_t partition_count) {
  WorkerSettings settings;
  settings.topic = config.kafka.topics.front();
  settings.partition = partition;
  settings.shape = config.reading.shape;
  settings.deduplicate = config.reading.deduplicate;
  // A topic of one partition keeps every device in one partition whatever its keys are.
  settings.check_keys = config.kafka.partitioning == Partitioning::kByDevice && partition_count > 1;
  settings.policy = config.policy;
  settings.emit.refresh_ms = config.emit.refresh_ms;
  settings.emit.late_delay_ms = config.emit.late_delay_ms;
  settings.layout = config.sink.layout;
  settings.buckets = config.sink.buckets;
  settings.checkpoint_ms = config.state.checkpoint_ms;
  settings.retention_ms = config.state.retention_ms;
  // An even share of what the process may use; half of it is the stores' own.
  const auto share = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(partition_count));
  settings.memory_bytes = std::max<std::uint64_t>(config.state.memory_bytes / 2 / share, 16 << 20);
  settings.max_outbox = std::max<std::uint64_t>(config.state.memory_bytes / 2 / share / 256, 10'000);
  return settings;
}

}  // namespace hourfold
