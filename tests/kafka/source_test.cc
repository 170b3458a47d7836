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

std::vector<PartitionId> ids(std::initializer_list<int> numbers) {
  std::vector<PartitionId> result;
  for (const int number : numbers) result.push_back({number});
  return result;
}

}  // namespace

TEST_CASE("records come once, in order, with key, value, time and headers as they were") {
  TestBroker broker;
  const auto topic = broker.new_topic(2);
  fill(broker, topic, 1, 300);
  {
    auto producer = KafkaProducer::create(broker.options());
    REQUIRE(producer.has_value());
    const RecordHeaders headers = {{"a", "1"}, {"a", std::nullopt}, {"b", std::string("\0x", 2)}};
    REQUIRE((*producer)
                ->produce({topic, PartitionId{0}, std::nullopt, "no key", 1'767'225'600'123, &headers})
                .has_value());
    REQUIRE((*producer)->produce({topic, PartitionId{0}, "k", std::nullopt, 5, nullptr}).has_value());
    REQUIRE((*producer)->produce({topic, PartitionId{0}, "", "", 6, nullptr}).has_value());
    REQUIRE((*producer)->flush(20'000).has_value());
    CHECK((*producer)->delivered() == 3);
  }
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 303; }));
  CHECK(reader.assigned == ids({0, 1}));
  CHECK(reader.offsets({1}) == range(0, 300));
  CHECK(reader.offsets({0}) == range(0, 3));
  std::ranges::stable_sort(reader.seen, {}, &Seen::partition);
  const auto& first = reader.seen[0];
  CHECK_FALSE(first.key.has_value());
  CHECK(first.value == "no key");
  CHECK(first.timestamp_ms == 1'767'225'600'123);
  REQUIRE(first.headers.size() == 3);
  CHECK(first.headers[0].name == "a");
  CHECK(first.headers[0].value == "1");
  CHECK_FALSE(first.headers[1].value.has_value());
  CHECK(first.headers[2].value == std::string("\0x", 2));
  CHECK_FALSE(reader.seen[1].value.has_value());
  CHECK(reader.seen[2].value == "");
  CHECK(reader.seen[2].key == "");
  CHECK(reader.seen[3].value == "v0");
  CHECK(reader.seen[3].timestamp_ms == 1000);
  CHECK(reader.source().stats().records == 303);
  CHECK(reader.source().last_error().empty());
}

TEST_CASE("nothing is read before start_reading(), then from exactly there") {
  TestBroker broker;
  const auto topic = broker.new_topic(3);
  for (int p = 0; p < 3; ++p) fill(broker, topic, p, 50);
  Reader reader(broker, topic, unique_name("g"));
  reader.start_in_callback = false;
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.assignments == 1; }));
  reader.poll_for(500ms);
  CHECK(reader.seen.empty());
  CHECK(reader.source().stats().stale_records == 0);  // not even fetched

  REQUIRE(reader.source().start_reading({1}, {17}).has_value());
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 33; }));
  reader.poll_for(300ms);
  CHECK(reader.offsets({1}) == range(17, 50));
  CHECK(reader.seen.size() == 33);

  REQUIRE(reader.source().start_reading({0}, {0}).has_value());
  REQUIRE(reader.source().start_reading({2}, {50}).has_value());  // at the end: waits for what comes
  fill(broker, topic, 2, 5, 50);
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 88; }));
  CHECK(reader.offsets({0}) == range(0, 50));
  CHECK(reader.offsets({2}) == range(50, 55));

  reader.seen.clear();
  REQUIRE(reader.source().start_reading({0}, {10}).has_value());  // back
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 40; }));
  CHECK(reader.offsets({0}) == range(10, 50));
}

// The position is asked for while whatever the assignment itself asked the broker is on its way.
TEST_CASE("start_reading() holds however long the broker takes to answer") {
  TestBroker broker;
  if (broker.real()) return;  // a real one answers at once
  const auto topic = broker.new_topic(2);
  fill(broker, topic, 0, 50);
  fill(broker, topic, 1, 50);
  rd_kafka_mock_broker_set_rtt(broker.mock().cluster(), 1, 300);
  Reader reader(broker, topic, unique_name("g"));
  reader.start_in_callback = false;
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.assignments == 1; }));
  REQUIRE(reader.source().start_reading({0}, {17}).has_value());
  reader.poll_for(100ms);
  reader.source().pause({1});
  REQUIRE(reader.source().start_reading({1}, {3}).has_value());
  reader.source().resume({1});
  reader.poll_for(2s);
  fill(broker, topic, 0, 5, 50);
  fill(broker, topic, 1, 5, 50);
  reader.poll_until([&] { return reader.seen.size() == 38 + 52; }, 10s);
  CHECK(reader.offsets({0}) == range(17, 55));
  CHECK(reader.offsets({1}) == range(3, 55));
}

TEST_CASE("every position asked for is honoured while much is being fetched") {
  TestBroker broker;
  const auto topic = broker.new_topic(2);
  fill(broker, topic, 0, 20'000);
  fill(broker, topic, 1, 20'000);
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return !reader.seen.empty(); }));
  for (const std::int64_t from : {15'000, 3, 19'999, 0, 7'000, 0}) {
    CAPTURE(from);
    reader.seen.clear();
    REQUIRE(reader.source().start_reading({0}, {from}).has_value());
    REQUIRE(reader.poll_until([&] { return !reader.offsets({0}).empty(); }));
    const auto offsets = reader.offsets({0});
    CHECK(offsets == range(from, from + static_cast<std::int64_t>(offsets.size())));
  }
  REQUIRE(reader.poll_until([&] { return reader.offsets({0}).size() == 20'000; }));
  CHECK(reader.offsets({0}) == range(0, 20'000));
}

TEST_CASE("a paused partition yields nothing and goes on without a hole or a repetition") {
  TestBroker broker;
  const auto topic = broker.new_topic(2);
  fill(broker, topic, 0, 5'000);
  fill(broker, topic, 1, 5'000);
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.assignments == 1; }));
  for (int round = 0; round < 20; ++round) {
    reader.source().pause({0});
    reader.source().pause({0});
    const auto before = reader.offsets({0}).size();
    reader.poll_for(20ms);
    CHECK(reader.offsets({0}).size() == before);
    reader.source().resume({0});
    reader.source().resume({0});
    reader.poll_once(200).has_value();
    fill(broker, topic, 0, 20, 5'000 + 20 * round);
  }
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 10'400; }));
  reader.poll_for(200ms);
  CHECK(reader.offsets({0}) == range(0, 5'400));
  CHECK(reader.offsets({1}) == range(0, 5'000));
}

TEST_CASE("pause() before start_reading() holds") {
  TestBroker broker;
  const auto topic = broker.new_topic(1);
  fill(broker, topic, 0, 10);
  Reader reader(broker, topic, unique_name("g"));
  reader.start_in_callback = false;
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.assignments == 1; }));
  reader.source().pause({0});
  REQUIRE(reader.source().start_reading({0}, {4}).has_value());
  reader.poll_for(300ms);
  CHECK(reader.seen.empty());
  reader.source().resume({0});
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 6; }));
  CHECK(reader.offsets({0}) == range(4, 10));
}

TEST_CASE("offsets are committed with their metadata, asynchronously and waited for") {
  TestBroker broker;
  const auto topic = broker.new_topic(2);
  fill(broker, topic, 0, 10);
  const auto group = unique_name("g");
  {
    Reader reader(broker, topic, group);
    REQUIRE(reader.start().has_value());
    REQUIRE(reader.poll_until([&] { return reader.seen.size() == 10; }));
    const auto none = reader.source().committed({0});
    REQUIRE(none.has_value());
    CHECK_FALSE(none->has_value());
    REQUIRE(reader.source().commit({0}, {{7}, "v1 hour=1767225600000 \"x\""}).has_value());
    std::vector<CommitResult> results;
    REQUIRE(reader.poll_until([&] {
      reader.source().take_commit_results(results);
      return !results.empty();
    }));
    REQUIRE(results.size() == 1);
    CHECK(results[0].partition == PartitionId{0});
    CHECK(results[0].outcome.has_value());
    // An asynchronous one, overtaken by nothing: its answer comes first and is not lost.
    REQUIRE(reader.source().commit({0}, {{8}, "a"}).has_value());
    REQUIRE(reader.source().commit_now({0}, {{9}, "b"}).has_value());
    REQUIRE(reader.source().commit_now({1}, {{0}, ""}).has_value());
    results.clear();
    reader.source().take_commit_results(results);
    CHECK(results.size() == 1);
  }
  Reader next(broker, topic, group);
  const auto found = next.source().committed({0});
  REQUIRE(found.has_value());
  REQUIRE(found->has_value());
  CHECK((*found)->next == Offset{9});
  CHECK((*found)->metadata == "b");
  const auto other = next.source().committed({1});
  REQUIRE((other.has_value() && other->has_value()));
  CHECK((*other)->next == Offset{0});
  CHECK((*other)->metadata.empty());
  CHECK_FALSE(next.source().commit({0}, {{9}, ""}).has_value());  // not assigned
}

TEST_CASE("commits work inside on_assigned and on_revoked") {
  TestBroker broker;
  const auto topic = broker.new_topic(1);
  fill(broker, topic, 0, 10);
  const auto group = unique_name("g");
  struct First : Reader {
    using Reader::Reader;
    void on_assigned(const std::vector<PartitionId>& partitions) override {
      committed_at_start = source().commit_now({0}, {{0}, "first start"}).has_value();
      Reader::on_assigned(partitions);
    }
    bool committed_at_start = false;
  };
  {
    First reader(broker, topic, group);
    bool committed = false;
    reader.before_revoked = [&](const auto&, bool) {
      committed = reader.source().commit_now({0}, {{10}, "end"}).has_value();
    };
    REQUIRE(reader.start().has_value());
    REQUIRE(reader.poll_until([&] { return reader.seen.size() == 10; }));
    CHECK(reader.committed_at_start);
    reader.source().stop();
    CHECK(reader.revocations == 1);
    CHECK_FALSE(reader.lost);
    CHECK(committed);
  }
  Reader next(broker, topic, group);
  const auto found = next.source().committed({0});
  REQUIRE((found.has_value() && found->has_value()));
  CHECK((*found)->metadata == "end");
}

TEST_CASE("two members share the partitions, and one takes over what the other leaves") {
  TestBroker broker;
  const auto topic = broker.new_topic(4);
  for (int p = 0; p < 4; ++p) fill(broker, topic, p, 100);
  const auto group = unique_name("g");
  Reader first(broker, topic, group);
  auto second = std::make_unique<Reader>(broker, topic, group);
  for (int p = 0; p < 4; ++p) second->starts[{p}] = {100};
  first.before_revoked = [&](const auto& partitions, bool lost) {
    CHECK_FALSE(lost);
    // The in-process broker takes no commits while a group rebalances; a real one does.
    for (const auto partition : partitions) first.starts[partition] = {100};
    for (const auto partition : partitions)
      if (broker.real())
        CHECK(
            first.source().commit_now(partition, {{100}, "p" + std::to_string(partition.value)}).has_value());
  };
  REQUIRE(first.start().has_value());
  REQUIRE(first.poll_until([&] { return first.seen.size() == 400; }));
  REQUIRE(second->start().has_value());
  const auto both = [&] {
    second->poll_once(20).has_value();
    return first.assigned.size() == 2 && second->assigned.size() == 2;
  };
  REQUIRE(first.poll_until(both));
  for (int p = 0; p < 4; ++p) fill(broker, topic, p, 10, 100);
  REQUIRE(first.poll_until([&] {
    second->poll_once(20).has_value();
    return first.seen.size() + second->seen.size() == 440;
  }));
  for (const auto partition : second->assigned) CHECK(second->offsets(partition) == range(100, 110));
  // The in-process broker refuses a follower whose SyncGroup comes after the leader's, and all join again; a
  // real one answers it.
  if (broker.real())
    CHECK(first.revocations == 1);
  else
    CHECK(first.revocations >= 1);

  second.reset();
  REQUIRE(first.poll_until([&] { return first.assigned.size() == 4; }, 60s));
  REQUIRE(first.poll_until([&] { return first.seen.size() >= 440; }));
}

TEST_CASE("an offset that the log does not have is told, and reading goes on from another") {
  TestBroker broker;
  const auto topic = broker.new_topic(2);
  fill(broker, topic, 0, 10);
  fill(broker, topic, 1, 10);
  Reader reader(broker, topic, unique_name("g"));
  reader.starts[{0}] = {5'000};
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return !reader.out_of_range.empty(); }));
  CHECK(reader.out_of_range == ids({0}));
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 10; }));
  CHECK(reader.offsets({1}) == range(0, 10));
  reader.poll_for(500ms);
  CHECK(reader.out_of_range.size() == 1);
  CHECK(reader.offsets({0}).empty());

  const auto bounds = reader.source().bounds({0});
  REQUIRE(bounds.has_value());
  CHECK(bounds->first == Offset{0});
  CHECK(bounds->end == Offset{10});
  REQUIRE(reader.source().start_reading({0}, {3}).has_value());
  REQUIRE(reader.poll_until([&] { return reader.offsets({0}).size() == 7; }));
  CHECK(reader.offsets({0}) == range(3, 10));
  CHECK(reader.offsets({1}) == range(0, 10));
  fill(broker, topic, 0, 3, 10);
  fill(broker, topic, 1, 3, 10);
  REQUIRE(reader.poll_until([&] { return reader.seen.size() == 23; }));
  CHECK(reader.offsets({0}) == range(3, 13));
  CHECK(reader.offsets({1}) == range(0, 13));
}

TEST_CASE("a log whose head was deleted under a slow reader") {
  TestBroker broker;
  if (broker.real()) return;  // the in-process broker deletes at 5 MB, which takes no waiting
  const auto topic = broker.new_topic(1);
  auto producer = KafkaProducer::create(broker.options({{"compression.codec", "none"}}));
  REQUIRE(producer.has_value());
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.assignments == 1; }));
  reader.source().pause({0});
  const std::string value(100'000, 'x');
  for (int i = 0; i < 100; ++i)
    REQUIRE((*producer)->produce({topic, PartitionId{0}, "k", value, 1, nullptr}).has_value());
  REQUIRE((*producer)->flush(20'000).has_value());
  reader.source().resume({0});
  REQUIRE(reader.poll_until([&] { return !reader.out_of_range.empty(); }));
  CHECK(reader.seen.empty());
  const auto bounds = reader.source().bounds({0});
  REQUIRE(bounds.has_value());
  CHECK(bounds->first > Offset{0});
  CHECK(bounds->end == Offset{100});
  REQUIRE(reader.source().start_reading({0}, bounds->first).has_value());
  REQUIRE(reader.poll_until([&] { return !reader.seen.empty() && reader.seen.back().offset == Offset{99}; }));
  CHECK(reader.seen.front().offset == bounds->first);
}

TEST_CASE("batches may outlive the source and die on another thread") {
  TestBroker broker;
  const auto topic = broker.new_topic(1);
  fill(broker, topic, 0, 1'000);
  std::vector<RecordBatch> kept;
  {
    Reader reader(broker, topic, unique_name("g"));
    REQUIRE(reader.start().has_value());
    std::size_t count = 0;
    while (count < 1'000) {
      std::vector<RecordBatch> batches;
      REQUIRE(reader.source().poll(100, batches).has_value());
      for (auto& batch : batches) {
        count += batch.records.size();
        CHECK(batch.bytes > batch.records.size() * 2);
        kept.push_back(std::move(batch));
      }
    }
  }
  std::thread([batches = std::move(kept)]() mutable {
    CHECK(batches.front().records.front().value == "v0");
    batches.clear();
  }).join();
}
