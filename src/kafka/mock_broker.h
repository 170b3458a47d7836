// A broker that speaks the Kafka protocol inside this process: for `hourfold demo` and for tests. It is
// librdkafka's mock cluster.
//
// Limits: it keeps the last 5 MB of each partition and drops older records, so a producer must not run ahead
// of its consumers by more; it cannot look up offsets by time nor describe a topic's configuration. After a
// member has left, the next rebalance waits for a session timeout: give consumers session.timeout.ms=6000,
// its least. Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"

struct rd_kafka_s;
struct rd_kafka_mock_cluster_s;

namespace hourfold {

class MockBroker {
 public:
  static Result<std::unique_ptr<MockBroker>> start(int brokers = 1);
  ~MockBroker();
  MockBroker(const MockBroker&) = delete;
  MockBroker& operator=(const MockBroker&) = delete;

  Result<void> create_topic(const std::string& topic, std::int32_t partitions);
  std::string bootstrap_servers() const;
  // Cuts all connections and takes no new ones, until told otherwise.
  void set_down(bool down);
  // For tests that inject errors.
  rd_kafka_mock_cluster_s* cluster() { return cluster_; }

 private:
  MockBroker(rd_kafka_s* client, rd_kafka_mock_cluster_s* cluster, int brokers)
      : client_(client), cluster_(cluster), brokers_(brokers) {}

  rd_kafka_s* client_;
  rd_kafka_mock_cluster_s* cluster_;
  int brokers_;
};

}  // namespace hourfold
