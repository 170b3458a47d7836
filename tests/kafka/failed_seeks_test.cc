// Seeks that fail, as they do while librdkafka is starting a partition or has no time: the linker puts
// __wrap_rd_kafka_seek_partitions() in the place of librdkafka's function (see tests/CMakeLists.txt).
#include <doctest/doctest.h>
#include <librdkafka/rdkafka.h>

#include <atomic>

#include "kafka/test_support.h"

using namespace hourfold;
using namespace hourfold::test;
using namespace std::chrono_literals;

namespace {

std::atomic<bool> seeks_fail{false};

struct FailingSeeks {
  FailingSeeks() { seeks_fail = true; }
  ~FailingSeeks() { seeks_fail = false; }
};

}  // namespace

extern "C" {
// NOLINTBEGIN: the names are the linker's.
rd_kafka_error_t* __real_rd_kafka_seek_partitions(rd_kafka_t*, rd_kafka_topic_partition_list_t*, int);

rd_kafka_error_t* __wrap_rd_kafka_seek_partitions(rd_kafka_t* client, rd_kafka_topic_partition_list_t* list,
                                                  int timeout_ms) {
  if (seeks_fail) return rd_kafka_error_new(RD_KAFKA_RESP_ERR__TIMED_OUT, "as the test wants it");
  return __real_rd_kafka_seek_partitions(client, list, timeout_ms);
}
// NOLINTEND
}

TEST_CASE("nothing is given out of a position before the seek to it has succeeded") {
  TestBroker broker;
  const auto topic = broker.new_topic(2);
  fill(broker, topic, 0, 50);
  fill(broker, topic, 1, 50);
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 100; }));
  reader.seen.clear();
  {
    const FailingSeeks failing;
    REQUIRE(reader.source().start_reading({0}, {10}).has_value());
    // These are fetched from where the partition stood, and would look like a hole from 10 to 50. After a
    // second the assignment is told anew; then they come after the others, but still no seek has said so.
    fill(broker, topic, 0, 5, 50);
    reader.poll_for(700ms);
    CHECK(reader.offsets({0}).empty());
    reader.poll_for(2s);
    CHECK(reader.offsets({0}).empty());
  }
  REQUIRE(reader.poll_until([&] { return reader.offsets({0}).size() == 45; }));
  CHECK(reader.offsets({0}) == range(10, 55));
  fill(broker, topic, 1, 5, 50);
  REQUIRE(reader.poll_until([&] { return reader.offsets({1}).size() == 5; }));
  CHECK(reader.offsets({1}) == range(50, 55));
}

TEST_CASE("pause and resume hold while seeks fail") {
  TestBroker broker;
  const auto topic = broker.new_topic(1);
  fill(broker, topic, 0, 50);
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 50; }));
  {
    const FailingSeeks failing;
    reader.source().pause({0});
    fill(broker, topic, 0, 5, 50);
    reader.poll_for(700ms);
  }
  reader.poll_for(1500ms);
  CHECK(reader.seen.size() == 50);
  {
    const FailingSeeks failing;
    reader.source().resume({0});
    reader.poll_for(300ms);
    CHECK(reader.seen.size() == 50);
  }
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 55; }));
  CHECK(reader.offsets({0}) == range(0, 55));
}
