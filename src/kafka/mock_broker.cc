#include "kafka/mock_broker.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>

#include "kafka/client.h"

namespace hourfold {

Result<std::unique_ptr<MockBroker>> MockBroker::start(int brokers) {
  std::array<char, 256> words{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, words.data(), words.size());
  if (client == nullptr) return fatal(std::string("kafka: the in-process broker: ") + words.data());
  rd_kafka_mock_cluster_t* cluster = rd_kafka_mock_cluster_new(client, brokers);
  if (cluster == nullptr) {
    rd_kafka_destroy(client);
    return fatal("kafka: the in-process broker cannot listen on loopback");
  }
  return std::unique_ptr<MockBroker>(new MockBroker(client, cluster, brokers));
}

MockBroker::~MockBroker() {
  rd_kafka_mock_cluster_destroy(cluster_);
  rd_kafka_destroy(client_);
}

Result<void> MockBroker::create_topic(const std::string& topic, std::int32_t partitions) {
  const auto code = rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return kafka::to_error(code, "kafka: creating topic '" + topic + "'");
  return {};
}

std::string MockBroker::bootstrap_servers() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }

void MockBroker::set_down(bool down) {
  for (int id = 1; id <= brokers_; ++id) {
    if (down)
      rd_kafka_mock_broker_set_down(cluster_, id);
    else
      rd_kafka_mock_broker_set_up(cluster_, id);
  }
}

}  // namespace hourfold
