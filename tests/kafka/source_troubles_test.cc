#include <doctest/doctest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <algorithm>
#include <thread>

#include "kafka/test_support.h"

using namespace hourfold;
using namespace hourfold::test;
using namespace std::chrono_literals;

namespace {

std::int64_t ms_of(const std::function<void()>& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began)
      .count();
}

}  // namespace

TEST_CASE("no broker and no topic: unavailable, with the reason") {
  TestBroker broker;
  const auto name = unique_name("no-such-topic");
  if (!broker.real())
    rd_kafka_mock_topic_set_error(broker.mock().cluster(), name.c_str(),
                                  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  Reader missing(broker, name, unique_name("g"));
  const auto no_topic = missing.start();
  REQUIRE_FALSE(no_topic.has_value());
  CHECK(no_topic.error().kind == ErrorKind::kUnavailable);
  CHECK(no_topic.error().message.find("does not exist") != std::string::npos);
  KafkaClientOptions nobody;
  nobody.brokers = "127.0.0.1:1";
  auto source = KafkaSource::create({nobody, "t", "g"});
  REQUIRE(source.has_value());
  Reader listener(broker, "t", "g");
  Result<void> started;
  const auto took = ms_of([&] { started = (*source)->start(&listener); });
  REQUIRE_FALSE(started.has_value());
  CHECK(started.error().kind == ErrorKind::kUnavailable);
  CHECK(started.error().message.find("refused") != std::string::npos);
  CHECK(took < 7'000);
  CHECK(ms_of([&] { (*source)->stop(); }) < 6'000);
}

TEST_CASE("the broker goes away and comes back") {
  TestBroker broker;
  if (broker.real()) return;  // the chaos tests do this to a real one
  const auto topic = broker.new_topic(1);
  fill(broker, topic, 0, 10);
  Reader reader(broker, topic, unique_name("g"), {{"reconnect.backoff.max.ms", "500"}});
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 10; }));
  broker.mock().set_down(true);
  REQUIRE(reader.poll_until([&] { return !reader.source().last_error().empty(); }));
  broker.mock().set_down(false);
  fill(broker, topic, 0, 10, 10);
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 20; }));
  CHECK(reader.offsets({0}) == range(0, 20));
  CHECK(reader.source().last_error().empty());
}

TEST_CASE("stop() is bounded while the broker is away, and tells the listener") {
  TestBroker broker;
  if (broker.real()) return;
  const auto topic = broker.new_topic(1);
  fill(broker, topic, 0, 10);
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 10; }));
  broker.mock().set_down(true);
  reader.poll_for(200ms);
  REQUIRE(reader.source().commit({0}, {{5}, ""}).has_value());
  bool committed = true;
  reader.before_revoked = [&](const auto&, bool) {
    committed = reader.source().commit_now({0}, {{10}, ""}).has_value();
  };
  CHECK(ms_of([&] { reader.source().stop(); }) < 20'000);
  CHECK(reader.revocations == 1);
  CHECK_FALSE(committed);
}

TEST_CASE("stop() is quick when all is well") {
  TestBroker broker;
  const auto topic = broker.new_topic(1);
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.assignments == 1; }));
  CHECK(ms_of([&] { reader.source().stop(); }) < 2'000);
}

TEST_CASE("a single record is given out at once") {
  TestBroker broker;
  const auto topic = broker.new_topic(1);
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  fill(broker, topic, 0, 1);
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 1; }));
  auto producer = KafkaProducer::create(broker.options({{"linger.ms", "0"}}));
  REQUIRE(producer.has_value());
  REQUIRE((*producer)->produce({topic, PartitionId{0}, "k", "warm", 1, nullptr}).has_value());
  REQUIRE((*producer)->flush(10'000).has_value());
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 2; }));
  std::int64_t worst = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    REQUIRE((*producer)->produce({topic, PartitionId{0}, "k", "v", 1, nullptr}).has_value());
    REQUIRE((*producer)->flush(10'000).has_value());
    worst = std::max(worst, ms_of([&] {
                       while (reader.seen.size() < 3 + i) REQUIRE(reader.poll_once(1'000).has_value());
                     }));
  }
  MESSAGE("worst of 20: " << worst << " ms from acknowledgement to poll()");
  // The in-process broker looks for new records only twice a second.
  CHECK(worst < (broker.real() ? 100 : 700));
}
