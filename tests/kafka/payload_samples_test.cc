#include "app/payload_samples.h"

#include <doctest/doctest.h>

#include "kafka/test_support.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

std::vector<std::string> values(const TestBroker& broker, const std::string& topic, std::uint32_t first,
                                std::uint32_t last) {
  PayloadTryOptions options;
  options.first = first;
  options.last = last;
  Config config;
  config.kafka.brokers = broker.options().brokers;
  config.kafka.topics = {topic};
  const auto samples = samples_of_topic(options, config);
  REQUIRE(samples);
  std::vector<std::string> texts;
  for (const PayloadSample& sample : *samples) texts.push_back(sample.record.value.value_or("(none)"));
  return texts;
}

}  // namespace

TEST_CASE("samples of a topic: the first and the last records of all partitions, by their timestamps") {
  TestBroker broker;
  const auto topic = broker.new_topic(3);
  CHECK(values(broker, topic, 0, 3).empty());
  fill(broker, topic, 0, 4);
  fill(broker, topic, 1, 2, 4);
  CHECK(values(broker, topic, 0, 3) == std::vector<std::string>{"v3", "v4", "v5"});
  CHECK(values(broker, topic, 2, 0) == std::vector<std::string>{"v0", "v1"});
  CHECK(values(broker, topic, 100, 0).size() == 6);
}
