// What the Kafka tests share: a broker (in this process, or the real one at HOURFOLD_TEST_KAFKA=host:port),
// topics of their own, and a reader that drives a KafkaSource and keeps copies of what it gives out.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "kafka/kafka_producer.h"
#include "kafka/kafka_source.h"
#include "kafka/mock_broker.h"

namespace hourfold::test {

class TestBroker {
 public:
  TestBroker();

  bool real() const { return mock_ == nullptr; }
  MockBroker& mock() { return *mock_; }
  std::string brokers() const { return brokers_; }
  // A topic that no other test has; config as in Kafka's topic configuration, only where the broker is real.
  std::string new_topic(std::int32_t partitions, const std::map<std::string, std::string>& config = {});
  KafkaClientOptions options(std::map<std::string, std::string> properties = {}) const;

 private:
  std::unique_ptr<MockBroker> mock_;
  std::string brokers_;
};

std::string unique_name(const std::string& prefix);

struct Seen {
  PartitionId partition;
  Offset offset;
  EpochMs timestamp_ms;
  std::optional<std::string> key;
  std::optional<std::string> value;
  RecordHeaders headers;
};

// A group member. Starts every partition at `starts`, or where the group has committed, or at 0.
class Reader : public RecordSource::Listener {
 public:
  Reader(const TestBroker& broker, const std::string& topic, const std::string& group,
         std::map<std::string, std::string> properties = {});
  ~Reader() override;

  KafkaSource& source() { return *source_; }
  Result<void> start() { return source_->start(this); }
  // Polls until the condition holds; false: not within the time.
  bool poll_until(const std::function<bool()>& condition,
                  std::chrono::milliseconds limit = std::chrono::seconds(30));
  void poll_for(std::chrono::milliseconds time);
  Result<void> poll_once(int timeout_ms);

  std::vector<std::int64_t> offsets(PartitionId partition) const;

  void on_assigned(const std::vector<PartitionId>& partitions) override;
  void on_revoked(const std::vector<PartitionId>& partitions, bool lost) override;
  void on_out_of_range(PartitionId partition) override;

  std::map<PartitionId, Offset> starts;
  bool start_in_callback = true;
  std::function<void(const std::vector<PartitionId>&, bool lost)> before_revoked;
  std::vector<Seen> seen;
  std::vector<PartitionId> assigned;
  int assignments = 0;
  int revocations = 0;
  bool lost = false;
  std::vector<PartitionId> out_of_range;

 private:
  std::unique_ptr<KafkaSource> source_;
};

// value "v<i>" with timestamp 1000 + i at offset i, for i in [from, from + count).
void fill(const TestBroker& broker, const std::string& topic, std::int32_t partition, int count,
          int from = 0);

// Offsets [from, to).
inline std::vector<std::int64_t> range(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(to - from));
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}

}  // namespace hourfold::test
