#include <doctest/doctest.h>

#include <thread>

#include "kafka/client_options.h"
#include "kafka/kafka_side_output.h"
#include "kafka/test_support.h"
#include "kafka/topic_settings.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

std::string refusal(const std::string& name, const std::string& value) {
  const auto checked = check_kafka_properties({{name, value}});
  if (checked) return "";
  CHECK(checked.error().kind == ErrorKind::kFatal);
  return checked.error().message;
}

}  // namespace

TEST_CASE("properties that the product owns are refused with what to do") {
  CHECK(refusal("group.id", "x") == "kafka.properties: group.id cannot be set: set kafka.group instead");
  for (const auto* name :
       {"bootstrap.servers", "metadata.broker.list", "enable.auto.commit", "enable.auto.offset.store",
        "auto.offset.reset", "isolation.level", "enable.partition.eof", "enable.idempotence", "acks",
        "transactional.id", "message.timeout.ms"})
    CHECK(refusal(name, "x").starts_with(std::string("kafka.properties: ") + name + " cannot be set: "));
  CHECK(refusal("partition.assignment.strategy", "cooperative-sticky").find("cooperative") !=
        std::string::npos);
}

TEST_CASE("properties that librdkafka does not know are refused in its words") {
  CHECK(refusal("sasl.pasword", "x").find("No such configuration property: \"sasl.pasword\"") !=
        std::string::npos);
  CHECK(refusal("session.timeout.ms", "soon").find("session.timeout.ms") != std::string::npos);
  CHECK(refusal("security.protocol", "telnet").find("Invalid value") != std::string::npos);
  CHECK(refusal("error_cb", "x").find("error_cb") != std::string::npos);
}

TEST_CASE("every other property is passed through") {
  CHECK(check_kafka_properties({{"security.protocol", "sasl_ssl"},
                                {"sasl.mechanisms", "SCRAM-SHA-512"},
                                {"sasl.username", "u"},
                                {"sasl.password", "p"},
                                {"group.instance.id", "host-1"},
                                {"partition.assignment.strategy", "roundrobin"},
                                {"check.crcs", "false"},
                                {"compression.codec", "zstd"},
                                {"fetch.max.bytes", "1000000"},
                                {"max.in.flight", "100"}})
            .has_value());
  // Those of one role do not disturb the other.
  TestBroker broker;
  const auto options = broker.options({{"max.in.flight", "100"},
                                       {"linger.ms", "1"},
                                       {"session.timeout.ms", "6000"},
                                       {"fetch.max.bytes", "1000000"}});
  CHECK(KafkaProducer::create(options).has_value());
  CHECK(KafkaSideOutputs::create({options, {}}).has_value());
  CHECK(KafkaSource::create({options, "t", "g"}).has_value());
}

TEST_CASE("what cannot be is told when the source is made") {
  TestBroker broker;
  for (const auto& bad :
       {KafkaSourceOptions{broker.options({{"sasl.pasword", "x"}}), "t", "g"},
        KafkaSourceOptions{broker.options(), "^t.*", "g"}, KafkaSourceOptions{broker.options(), "", "g"},
        KafkaSourceOptions{broker.options(), "t", ""},
        KafkaSourceOptions{
            broker.options({{"session.timeout.ms", "900000"}, {"max.poll.interval.ms", "1000"}}), "t",
            "g"}}) {
    const auto source = KafkaSource::create(bad);
    REQUIRE_FALSE(source.has_value());
    CHECK(source.error().kind == ErrorKind::kFatal);
  }
}

TEST_CASE("a topic's partitions and configuration") {
  TestBroker broker;
  const auto topic =
      broker.new_topic(5, {{"retention.ms", "2592000000"}, {"message.timestamp.type", "LogAppendTime"}});
  const auto topics = KafkaTopics::create(broker.options());
  REQUIRE(topics.has_value());
  const auto count = (*topics)->partition_count(topic);
  REQUIRE(count.has_value());
  CHECK(*count == 5);
  auto settings = (*topics)->settings(topic);
  if (!broker.real()) {
    REQUIRE_FALSE(settings.has_value());
    CHECK(settings.error().kind == ErrorKind::kUnavailable);
    return;
  }
  for (int i = 0; i < 50 && !settings; ++i) {  // a new topic is not known everywhere at once
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    settings = (*topics)->settings(topic);
  }
  REQUIRE(settings.has_value());
  CHECK(settings->retention_ms == 2'592'000'000);
  CHECK_FALSE(settings->retention_bytes.has_value());
  CHECK(settings->timestamp_type == "LogAppendTime");
  CHECK(settings->cleanup_policy == "delete");
  CHECK(settings->max_message_bytes > 1'000'000);
  const auto endless = broker.new_topic(1, {{"retention.ms", "-1"}});
  auto for_ever = (*topics)->settings(endless);
  for (int i = 0; i < 50 && !for_ever; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for_ever = (*topics)->settings(endless);
  }
  REQUIRE(for_ever.has_value());
  CHECK_FALSE(for_ever->retention_ms.has_value());
  CHECK((*topics)->settings("no-such-topic-at-all").error().kind == ErrorKind::kUnavailable);
}
