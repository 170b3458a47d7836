#include "kafka/kafka_producer.h"

#include <atomic>

#include "kafka/producing.h"

namespace hourfold {
namespace kafka {
namespace {

constexpr int kRoomTimeoutMs = 30'000;
constexpr int kPollMs = 50;
constexpr std::uint32_t kPollEvery = 256;

class Producer final : public KafkaProducer {
 public:
  Result<void> connect(const KafkaClientOptions& options) {
    ClientBuilder builder(options, Role::kProducer, this);
    rd_kafka_conf_set_dr_msg_cb(builder.conf(),
                                [](rd_kafka_t* client, const rd_kafka_message_t* message, void*) {
                                  static_cast<Producer*>(owner_of(client))->report(*message);
                                });
    auto client = build_producer(
        builder, {{"queue.buffering.max.messages", "200000"}, {"queue.buffering.max.kbytes", "131072"}});
    if (!client) return client.error();
    client_ = std::move(*client);
    return {};
  }

  ~Producer() override {
    if (client_ == nullptr) return;
    rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(client_.get(), 1'000);
  }

  Result<void> produce(const OutgoingRecord& record) override {
    if (++produced_ % kPollEvery == 0) rd_kafka_poll(client_.get(), 0);
    const std::string what = "kafka: sending to '" + std::string(record.topic) + "'";
    for (int waited = 0; waited <= kRoomTimeoutMs; waited += kPollMs) {
      const auto code = enqueue(client_.get(), record, nullptr);
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
      if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) return to_error(code, what);
      rd_kafka_poll(client_.get(), kPollMs);
    }
    return to_error(RD_KAFKA_RESP_ERR__QUEUE_FULL, what);
  }

  Result<void> flush(int timeout_ms) override {
    const auto code = rd_kafka_flush(client_.get(), timeout_ms);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
      return unavailable("kafka: " + std::to_string(rd_kafka_outq_len(client_.get())) +
                         " records not delivered after " + std::to_string(timeout_ms) + " ms");
    if (const auto failure = std::exchange(failure_, std::nullopt)) return *failure;
    return {};
  }

  std::uint64_t delivered() const override { return delivered_; }

 private:
  void report(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR)
      ++delivered_;
    else if (!failure_)
      failure_ = to_error(message.err,
                          std::string("kafka: a record for '") + rd_kafka_topic_name(message.rkt) + "'");
  }

  Client client_;
  std::uint32_t produced_ = 0;
  std::atomic<std::uint64_t> delivered_{0};
  std::optional<Error> failure_;
};

}  // namespace
}  // namespace kafka

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::create(const KafkaClientOptions& options) {
  auto producer = std::make_unique<kafka::Producer>();
  if (auto connected = producer->connect(options); !connected) return connected.error();
  return std::unique_ptr<KafkaProducer>(std::move(producer));
}

}  // namespace hourfold
