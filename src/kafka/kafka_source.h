// The log of readings on Kafka: one topic, read as a member of a consumer group (eager protocol, static
// membership with the property group.instance.id) through librdkafka.
//
// Memory:  librdkafka holds at most queued.max.messages.kbytes of payload (kDefaultQueueKbytes here) or
// queued.min.messages messages
//          over all partitions, with some 300 bytes beside each message, and one fetch answer per broker
//          (fetch.max.bytes) more. What poll() has given out is the caller's to bound. The defaults hold over
//          a second of traffic: when a bound is reached, librdkafka 2.0.2 stops fetching for up to a second,
//          however soon there is room again.
// Threads: as RecordSource; last_error(), stats() and known_bounds() from any thread.
// Batches: may outlive the source and die on any thread. The client itself lives until the last of them is
// gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kafka/client_options.h"
#include "kafka/topic_settings.h"
#include "ports/record_source.h"

namespace hourfold {

struct KafkaSourceOptions {
  KafkaClientOptions client;
  std::string topic;
  std::string group;
};

struct KafkaSourceStats {
  std::uint64_t records = 0;        // given out
  std::uint64_t bytes = 0;          // of their keys and values
  std::uint64_t stale_records = 0;  // dropped: fetched before a seek, a pause or a revocation
  std::uint64_t errors = 0;         // that librdkafka reported and the source lives with
  std::uint64_t rebalances = 0;
  std::uint64_t queued_records = 0;  // in librdkafka's queue now
};

class KafkaSource : public RecordSource {
 public:
  static constexpr int kDefaultQueueKbytes = 262'144;

  // Fatal: a property that cannot be (see client_options.h), an empty topic or group. Does not connect.
  static Result<std::unique_ptr<KafkaSource>> create(const KafkaSourceOptions& options);

  // The latest trouble with brokers or partitions that poll() rides out; empty again once records come.
  virtual std::string last_error() const = 0;
  virtual KafkaSourceStats stats() const = 0;
  // What the client knows from its fetches, without asking: for lag. Empty before the first fetch.
  virtual std::optional<LogBounds> known_bounds(PartitionId partition) const = 0;
  virtual Result<TopicSettings> topic_settings() = 0;
};

}  // namespace hourfold
