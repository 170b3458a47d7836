#include "kafka/log_reader.h"

#include <doctest/doctest.h>

#include "kafka/test_support.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

std::unique_ptr<LogReader> reader_of(const TestBroker& broker, const std::string& topic) {
  auto reader = LogReader::create({broker.options(), topic, unique_name("g")});
  REQUIRE(reader);
  return std::move(*reader);
}

struct Read {
  std::map<PartitionId, std::vector<std::int64_t>> offsets;
  std::map<PartitionId, Offset> ends;
};

Read read_all(LogReader& reader, const std::map<PartitionId, LogBounds>& ranges) {
  REQUIRE(reader.start(ranges));
  Read read;
  std::vector<RecordBatch> batches;
  for (int i = 0; i < 600 && !reader.done(); ++i) {
    batches.clear();
    REQUIRE(reader.poll(50, batches));
    for (const RecordBatch& batch : batches) {
      for (const Record& record : batch.records) read.offsets[batch.partition].push_back(record.offset.value);
      if (batch.read_to) read.ends[batch.partition] = *batch.read_to;
    }
  }
  CHECK(reader.done());
  return read;
}

}  // namespace

TEST_CASE("a log is read from one offset to another, beside a group and without one") {
  TestBroker broker;
  const auto topic = broker.new_topic(3);
  fill(broker, topic, 0, 500);
  fill(broker, topic, 1, 300);
  const auto reader = reader_of(broker, topic);
  CHECK(*reader->partition_count() == 3);
  const auto bounds = reader->bounds({0});
  REQUIRE(bounds);
  CHECK(bounds->first == Offset{0});
  CHECK(bounds->end == Offset{500});
  CHECK_FALSE(*reader->committed({0}));
  const Read read = read_all(*reader, {{{0}, {{100}, {250}}}, {{1}, {{0}, {300}}}, {{2}, {{0}, {0}}}});
  CHECK(read.offsets.at({0}) == range(100, 250));
  CHECK(read.offsets.at({1}) == range(0, 300));
  CHECK_FALSE(read.offsets.contains({2}));
  CHECK(read.ends.at({0}) == Offset{250});
  CHECK(read.ends.at({1}) == Offset{300});
}

TEST_CASE("what a group has committed is known, and reading commits nothing") {
  TestBroker broker;
  const auto topic = broker.new_topic(1);
  const auto group = unique_name("g");
  fill(broker, topic, 0, 50);
  {
    Reader member(broker, topic, group, {{"session.timeout.ms", "6000"}});
    REQUIRE(member.start());
    REQUIRE(member.poll_until([&] { return member.seen.size() == 50; }));
    REQUIRE(member.source().commit_now({0}, {{20}, "metadata"}));
  }
  auto reader = LogReader::create({broker.options(), topic, group});
  REQUIRE(reader);
  const Read read = read_all(**reader, {{{0}, {{0}, {50}}}});
  CHECK(read.offsets.at({0}) == range(0, 50));
  const auto committed = (*reader)->committed({0});
  REQUIRE(committed);
  REQUIRE(*committed);
  CHECK((*committed)->next == Offset{20});
  CHECK((*committed)->metadata == "metadata");
}

TEST_CASE("a partition that is finished early gives no more") {
  TestBroker broker;
  const auto topic = broker.new_topic(2);
  fill(broker, topic, 0, 2'000);
  fill(broker, topic, 1, 10);
  const auto reader = reader_of(broker, topic);
  REQUIRE(reader->start({{{0}, {{0}, {2'000}}}, {{1}, {{0}, {10}}}}));
  reader->finish({0});
  std::vector<RecordBatch> batches;
  for (int i = 0; i < 600 && !reader->done(); ++i) {
    batches.clear();
    REQUIRE(reader->poll(50, batches));
    for (const RecordBatch& batch : batches) CHECK(batch.partition == PartitionId{1});
  }
  CHECK(reader->done());
}

TEST_CASE("an offset that is not in the log is an error, never a jump") {
  TestBroker broker;
  const auto topic = broker.new_topic(1);
  fill(broker, topic, 0, 10);
  const auto reader = reader_of(broker, topic);
  REQUIRE(reader->start({{{0}, {{5'000}, {6'000}}}}));
  Result<void> polled;
  std::vector<RecordBatch> batches;
  for (int i = 0; i < 600 && polled; ++i) polled = reader->poll(50, batches);
  REQUIRE_FALSE(polled);
  CHECK(polled.error().kind == ErrorKind::kFatal);
  CHECK(polled.error().message.find("5000") != std::string::npos);
  CHECK(batches.empty());
}
