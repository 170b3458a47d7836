// What the broker says about a topic: how many partitions, how long it keeps records, whose clock stamps
// them. Read at start, by `table create` (the TTL of contributions follows the topic's retention) and by
// `doctor`.
//
// Threads: any; calls block for some seconds at most.
// Errors:  Unavailable (no broker, no such topic yet), Refused (the broker does not tell: too old, a test
// double), Fatal (authorisation).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "kafka/client_options.h"

struct rd_kafka_s;

namespace hourfold {

struct TopicSettings {
  std::optional<std::int64_t> retention_ms;     // nullopt: for ever
  std::optional<std::int64_t> retention_bytes;  // of a partition; nullopt: no bound
  std::string timestamp_type;                   // "CreateTime" or "LogAppendTime"
  std::string cleanup_policy;                   // "delete", "compact" or both
  std::int64_t max_message_bytes = 0;
};

class KafkaTopics {
 public:
  static Result<std::unique_ptr<KafkaTopics>> create(const KafkaClientOptions& options);

  Result<std::int32_t> partition_count(const std::string& topic) const;
  Result<TopicSettings> settings(const std::string& topic) const;

 private:
  explicit KafkaTopics(std::shared_ptr<rd_kafka_s> client) : client_(std::move(client)) {}

  std::shared_ptr<rd_kafka_s> client_;
};

namespace kafka {

Result<std::int32_t> query_partition_count(rd_kafka_s* client, const std::string& topic);
Result<TopicSettings> query_settings(rd_kafka_s* client, const std::string& topic);

}  // namespace kafka
}  // namespace hourfold
