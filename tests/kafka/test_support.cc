#include "kafka/test_support.h"

#include <doctest/doctest.h>
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "kafka/client.h"
#include "kafka/topic_settings.h"

namespace hourfold::test {
namespace {

using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, kafka::Destroy<rd_kafka_NewTopic_destroy>>;

void create_on_real(const std::string& brokers, const std::string& topic, std::int32_t partitions,
                    const std::map<std::string, std::string>& config) {
  KafkaClientOptions options;
  options.brokers = brokers;
  kafka::ClientBuilder builder(options, kafka::Role::kProducer, nullptr);
  const auto client = builder.build({}, {});
  REQUIRE(client.has_value());
  std::array<char, 256> words{};
  const NewTopic wanted(rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, words.data(), words.size()));
  for (const auto& [name, value] : config)
    rd_kafka_NewTopic_set_config(wanted.get(), name.c_str(), value.c_str());
  const kafka::Queue answers(rd_kafka_queue_new(client->get()));
  rd_kafka_NewTopic_t* topics[] = {wanted.get()};
  rd_kafka_CreateTopics(client->get(), topics, 1, nullptr, answers.get());
  const kafka::Event event(rd_kafka_queue_poll(answers.get(), 20'000));
  REQUIRE(event != nullptr);
  REQUIRE_MESSAGE(rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR_NO_ERROR,
                  rd_kafka_event_error_string(event.get()));
  // A new topic is not known everywhere at once.
  for (int i = 0; i < 50 && !kafka::query_partition_count(client->get(), topic); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

std::optional<std::string> copy(const std::optional<std::string_view>& bytes) {
  return bytes ? std::optional(std::string(*bytes)) : std::nullopt;
}

}  // namespace

std::string unique_name(const std::string& prefix) {
  static std::atomic<int> counter{0};
  return prefix + "-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
}

TestBroker::TestBroker() {
  if (const char* address = std::getenv("HOURFOLD_TEST_KAFKA")) {
    brokers_ = address;
    return;
  }
  auto mock = MockBroker::start();
  REQUIRE(mock.has_value());
  mock_ = std::move(*mock);
  brokers_ = mock_->bootstrap_servers();
}

std::string TestBroker::new_topic(std::int32_t partitions, const std::map<std::string, std::string>& config) {
  const auto name = unique_name("t");
  if (real())
    create_on_real(brokers_, name, partitions, config);
  else
    REQUIRE(mock_->create_topic(name, partitions).has_value());
  return name;
}

KafkaClientOptions TestBroker::options(std::map<std::string, std::string> properties) const {
  KafkaClientOptions options;
  options.brokers = brokers_;
  options.properties = std::move(properties);
  if (std::getenv("HOURFOLD_TEST_LOG") != nullptr)
    options.log = [](int severity, std::string_view text) {
      std::fprintf(stderr, "kafka %d %.*s\n", severity, static_cast<int>(text.size()), text.data());
    };
  return options;
}

Reader::Reader(const TestBroker& broker, const std::string& topic, const std::string& group,
               std::map<std::string, std::string> properties) {
  properties.emplace("session.timeout.ms", "6000");
  properties.emplace("heartbeat.interval.ms", "300");
  auto source = KafkaSource::create({broker.options(std::move(properties)), topic, group});
  REQUIRE_MESSAGE(source.has_value(), (source ? "" : source.error().message));
  source_ = std::move(*source);
}

Reader::~Reader() { source_->stop(); }

Result<void> Reader::poll_once(int timeout_ms) {
  std::vector<RecordBatch> batches;
  auto polled = source_->poll(timeout_ms, batches);
  for (const auto& batch : batches)
    for (const auto& record : batch.records)
      seen.push_back({batch.partition, record.offset, record.timestamp_ms, copy(record.key),
                      copy(record.value), record.headers ? *record.headers : RecordHeaders{}});
  return polled;
}

bool Reader::poll_until(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    const auto polled = poll_once(50);
    REQUIRE_MESSAGE(polled.has_value(), (polled ? "" : polled.error().message));
  }
  return true;
}

void Reader::poll_for(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  poll_until([&] { return std::chrono::steady_clock::now() >= deadline; }, time + std::chrono::seconds(1));
}

std::vector<std::int64_t> Reader::offsets(PartitionId partition) const {
  std::vector<std::int64_t> found;
  for (const auto& record : seen)
    if (record.partition == partition) found.push_back(record.offset.value);
  return found;
}

void Reader::on_assigned(const std::vector<PartitionId>& partitions) {
  ++assignments;
  assigned = partitions;
  if (!start_in_callback) return;
  for (const auto partition : partitions) {
    Offset from{0};
    if (const auto fixed = starts.find(partition); fixed != starts.end()) {
      from = fixed->second;
    } else {
      const auto committed = source_->committed(partition);
      REQUIRE_MESSAGE(committed.has_value(), (committed ? "" : committed.error().message));
      if (*committed) from = (*committed)->next;
    }
    REQUIRE(source_->start_reading(partition, from).has_value());
  }
}

void Reader::on_revoked(const std::vector<PartitionId>& partitions, bool was_lost) {
  ++revocations;
  lost = was_lost;
  if (before_revoked) before_revoked(partitions, was_lost);
  assigned.clear();
}

void Reader::on_out_of_range(PartitionId partition) { out_of_range.push_back(partition); }

void fill(const TestBroker& broker, const std::string& topic, std::int32_t partition, int count, int from) {
  auto producer = KafkaProducer::create(broker.options());
  REQUIRE(producer.has_value());
  for (int i = from; i < from + count; ++i) {
    const auto key = "k" + std::to_string(i), value = "v" + std::to_string(i);
    REQUIRE((*producer)->produce({topic, PartitionId{partition}, key, value, 1000 + i, nullptr}).has_value());
  }
  const auto flushed = (*producer)->flush(20'000);
  REQUIRE_MESSAGE(flushed.has_value(), (flushed ? "" : flushed.error().message));
}

}  // namespace hourfold::test
