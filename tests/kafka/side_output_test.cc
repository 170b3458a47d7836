#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <charconv>

#include "contract/side_output_contract.h"
#include "kafka/kafka_side_output.h"
#include "kafka/test_support.h"

using namespace hourfold;
using namespace hourfold::test;
using namespace std::chrono_literals;

namespace {

constexpr std::int16_t kProduceRequest = 0;

std::int64_t number(const std::string& text) {
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Undoes the headers that the output adds.
SideRecord parse(const Seen& seen, SideChannel channel) {
  SideRecord record;
  record.channel = channel;
  record.timestamp_ms = seen.timestamp_ms;
  record.key = seen.key;
  record.value = seen.value;
  for (const auto& header : seen.headers) {
    const auto value = header.value.value_or("");
    if (header.name == "hourfold.reason")
      record.reason = value;
    else if (header.name == "hourfold.detail")
      record.detail = value;
    else if (header.name == "hourfold.topic")
      record.topic = value;
    else if (header.name == "hourfold.partition")
      record.partition = {static_cast<std::int32_t>(number(value))};
    else if (header.name == "hourfold.offset")
      record.position.offset = {number(value)};
    else if (header.name == "hourfold.index")
      record.position.index = static_cast<std::uint32_t>(number(value));
    else
      record.headers.push_back(header);
  }
  return record;
}

std::vector<SideRecord> read_topic(const TestBroker& broker, const std::string& topic, std::size_t count,
                                   SideChannel channel) {
  Reader reader(broker, topic, unique_name("g"));
  REQUIRE(reader.start().has_value());
  REQUIRE(reader.poll_until([&] { return reader.seen.size() >= count; }));
  reader.poll_for(100ms);
  std::vector<SideRecord> records;
  for (const auto& seen : reader.seen) records.push_back(parse(seen, channel));
  return records;
}

std::unique_ptr<KafkaSideOutputs> open_archive(const TestBroker& broker, const std::string& topic,
                                               std::map<std::string, std::string> properties = {}) {
  auto outputs =
      KafkaSideOutputs::create({broker.options(std::move(properties)), {{SideChannel::kArchive, topic}}});
  REQUIRE_MESSAGE(outputs.has_value(), (outputs ? "" : outputs.error().message));
  return std::move(*outputs);
}

}  // namespace

TEST_CASE("side topics keep the contract") {
  TestBroker broker;
  std::map<SideChannel, std::string> topics;
  for (const auto channel : {SideChannel::kDeadLetter, SideChannel::kQuarantine, SideChannel::kArchive})
    topics[channel] = broker.new_topic(2);
  auto outputs = KafkaSideOutputs::create({broker.options(), topics});
  REQUIRE(outputs.has_value());
  side_output_contract(
      **outputs, [&](SideChannel channel) { return read_topic(broker, topics[channel], 200, channel); });
  CHECK((*outputs)->stats().delivered == 600);
  CHECK((*outputs)->stats().queued == 0);
  CHECK((*outputs)->last_error().empty());
}

TEST_CASE("outcomes come to the worker that sent the record") {
  TestBroker broker;
  const auto outputs = open_archive(broker, broker.new_topic(1));
  const auto one = outputs->open({1}), other = outputs->open({2});
  REQUIRE(one->send(side_record(SideChannel::kArchive, 1, 0)).has_value());
  REQUIRE(send_all(*other, {side_record(SideChannel::kArchive, 2, 0)}));
  SideOutcomes outcomes;
  for (int i = 0; i < 1'000 && outcomes.acknowledged.empty(); ++i) {
    one->take_outcomes(outcomes);
    std::this_thread::sleep_for(10ms);
  }
  REQUIRE(outcomes.acknowledged.size() == 1);
  CHECK(outcomes.acknowledged[0] == Position{{1}, 0});
}

TEST_CASE("a side topic that is missing is named") {
  TestBroker broker;
  const auto name = unique_name("no-such-topic");
  if (!broker.real())
    rd_kafka_mock_topic_set_error(broker.mock().cluster(), name.c_str(),
                                  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const auto checked = open_archive(broker, name)->check();
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().kind == ErrorKind::kUnavailable);
  CHECK(checked.error().message.find(name) != std::string::npos);
  CHECK(checked.error().message.find("side.archive") != std::string::npos);
}

TEST_CASE("a record that the side topic does not take for its size goes there without its value") {
  TestBroker broker;
  const auto topic = broker.new_topic(1, {{"max.message.bytes", "20000"}});
  const auto outputs = open_archive(broker, topic, {{"compression.codec", "none"}});
  std::vector<SideRecord> sent;
  for (std::int64_t i = 0; i < 50; ++i) {  // together more than the topic takes at once, one by one not
    sent.push_back(side_record(SideChannel::kArchive, i, 0));
    sent.back().value = std::string(5'000, 'v');
  }
  sent.push_back(side_record(SideChannel::kArchive, 50, 0));
  sent.back().value = std::string(30'000, 'w');
  if (!broker.real())  // which does not look at sizes: the batch, then the records of it that are sent alone
    rd_kafka_mock_push_request_errors(broker.mock().cluster(), kProduceRequest, 1,
                                      RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  REQUIRE(send_all(*outputs->open({3}), sent));
  const auto found = read_topic(broker, topic, sent.size(), SideChannel::kArchive);
  REQUIRE(found.size() == sent.size());
  for (const auto& record : found) {
    const auto& original = sent[static_cast<std::size_t>(record.position.offset.value)];
    if (broker.real() && record.position.offset == Offset{50}) {
      CHECK(record.value == "");
      CHECK(record.detail ==
            original.detail +
                "; the value of 30000 bytes is left out: the side topic does not take a record of its size");
      CHECK(record.key == original.key);
      CHECK(record.timestamp_ms == original.timestamp_ms);
    } else {
      check_same(record, original);
    }
  }
  CHECK(outputs->stats().reduced == (broker.real() ? 1 : 0));
}

TEST_CASE("a record larger than the client sends at all goes without its value") {
  TestBroker broker;
  const auto topic = broker.new_topic(1);
  const auto outputs = open_archive(broker, topic, {{"message.max.bytes", "10000"}});
  auto record = side_record(SideChannel::kArchive, 1, 0);
  record.detail = "";
  record.value = std::string(30'000, 'w');
  REQUIRE(send_all(*outputs->open({3}), {record}));
  const auto found = read_topic(broker, topic, 1, SideChannel::kArchive);
  REQUIRE(found.size() == 1);
  CHECK(found[0].value == "");
  CHECK(found[0].detail.starts_with("the value of 30000 bytes is left out"));
}

TEST_CASE("what a side topic refuses for good is sent with less and less, and then told as refused") {
  TestBroker broker;
  if (broker.real()) return;  // which cannot be told to refuse
  const auto refuse = [&](std::size_t times, rd_kafka_resp_err_t code) {
    for (std::size_t i = 0; i < times; ++i)
      rd_kafka_mock_push_request_errors(broker.mock().cluster(), kProduceRequest, 1, code);
  };
  const struct {
    rd_kafka_resp_err_t code;
    std::size_t times;
    bool refused;
    const char* detail;
    bool value, key, time;
  } cases[] = {
      {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 1, false, "", true, true, true},
      {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 2, false, "left out", false, true, true},
      {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 3, false, "left out, too", false, false, true},
      {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 4, true, "", false, false, false},
      {RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, 1, false, "", true, true, true},
      {RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, 2, false, "timestamp 1767225600123", true, true, false},
      {RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, 3, true, "", false, false, false},
      {RD_KAFKA_RESP_ERR_INVALID_RECORD, 1, false, "", true, true, true},
      {RD_KAFKA_RESP_ERR_INVALID_RECORD, 2, true, "", false, false, false},
  };
  for (const auto& one : cases) {
    CAPTURE(rd_kafka_err2name(one.code));
    CAPTURE(one.times);
    const auto topic = broker.new_topic(1);
    const auto outputs = open_archive(broker, topic);
    const auto output = outputs->open({3});
    auto record = side_record(SideChannel::kArchive, 7, 0);
    record.headers = {{"trace", "1"}, {"hourfold.offset", "from an earlier passage"}};
    REQUIRE(send_all(*output, {side_record(SideChannel::kArchive, 1, 0)}));  // connected
    refuse(one.times, one.code);
    REQUIRE(output->send(record).has_value());
    SideOutcomes outcomes;
    for (int i = 0; i < 2'000 && outcomes.acknowledged.empty() && outcomes.refused.empty(); ++i) {
      output->take_outcomes(outcomes);
      std::this_thread::sleep_for(10ms);
    }
    CHECK(outcomes.failed.empty());
    REQUIRE(outcomes.refused.size() == (one.refused ? 1 : 0));
    CHECK(outputs->stats().refused == (one.refused ? 1 : 0));
    if (one.refused) {
      CHECK(outcomes.refused[0].position == record.position);
      CHECK(outcomes.refused[0].why.find(topic) != std::string::npos);
      continue;
    }
    const bool whole = one.value && one.key && one.time;
    CHECK(outcomes.reduced == (whole ? 0 : 1));
    const auto found = read_topic(broker, topic, 2, SideChannel::kArchive).back();
    CHECK(found.detail.find(one.detail) != std::string::npos);
    CHECK((found.value == record.value) == one.value);
    CHECK((found.key == record.key) == one.key);
    CHECK((found.timestamp_ms == record.timestamp_ms) == one.time);
    CHECK(found.position == record.position);
    CHECK(found.headers.size() == (one.key ? 1 : 0));
  }
}

TEST_CASE("side records wait while the broker is away, up to the bound, and none is lost") {
  TestBroker broker;
  if (broker.real()) return;  // the chaos tests do this to a real one
  const auto topic = broker.new_topic(1);
  const auto outputs = open_archive(broker, topic,
                                    {{"queue.buffering.max.messages", "100"},
                                     {"reconnect.backoff.max.ms", "300"},
                                     {"socket.timeout.ms", "1000"}});
  const auto output = outputs->open({3});
  REQUIRE(send_all(*output, {side_record(SideChannel::kArchive, 0, 0)}));
  broker.mock().set_down(true);
  std::vector<SideRecord> sent;
  std::size_t refusals = 0;
  for (std::int64_t i = 1; i <= 150; ++i) {
    const auto accepted = output->send(side_record(SideChannel::kArchive, i, 0));
    if (accepted)
      sent.push_back(side_record(SideChannel::kArchive, i, 0));
    else {
      CHECK(accepted.error().kind == ErrorKind::kUnavailable);
      ++refusals;
    }
  }
  CHECK(refusals == 50);
  std::this_thread::sleep_for(1'500ms);
  CHECK_FALSE(outputs->last_error().empty());
  SideOutcomes outcomes;
  output->take_outcomes(outcomes);
  CHECK(outcomes.acknowledged.empty());
  broker.mock().set_down(false);
  for (int i = 0; i < 3'000 && outcomes.acknowledged.size() < 100; ++i) {
    output->take_outcomes(outcomes);
    std::this_thread::sleep_for(10ms);
  }
  CHECK(outcomes.acknowledged.size() == 100);
  CHECK(outcomes.failed.empty());
  CHECK(read_topic(broker, topic, 101, SideChannel::kArchive).size() == 101);
}

TEST_CASE("a producer that its broker has given up is replaced") {
  TestBroker broker;
  if (broker.real()) return;
  const auto topic = broker.new_topic(1);
  const auto outputs = open_archive(broker, topic);
  const auto output = outputs->open({3});
  REQUIRE(send_all(*output, {side_record(SideChannel::kArchive, 0, 0)}));
  rd_kafka_mock_push_request_errors(broker.mock().cluster(), kProduceRequest, 1,
                                    RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
  std::vector<SideRecord> sent;
  for (std::int64_t i = 1; i <= 20; ++i) sent.push_back(side_record(SideChannel::kArchive, i, 0));
  REQUIRE(send_all(*output, sent));
  CHECK(read_topic(broker, topic, 21, SideChannel::kArchive).size() >= 21);
}

TEST_CASE("outputs close in bounded time with records on their way") {
  TestBroker broker;
  if (broker.real()) return;
  const auto topic = broker.new_topic(1);
  auto outputs = open_archive(broker, topic);
  auto output = outputs->open({3});
  REQUIRE(send_all(*output, {side_record(SideChannel::kArchive, 0, 0)}));
  broker.mock().set_down(true);
  for (std::int64_t i = 1; i <= 100; ++i)
    REQUIRE(output->send(side_record(SideChannel::kArchive, i, 0)).has_value());
  const auto began = std::chrono::steady_clock::now();
  output.reset();
  outputs.reset();
  CHECK(std::chrono::steady_clock::now() - began < 8s);
}
