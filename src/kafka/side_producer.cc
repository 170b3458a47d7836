#include "kafka/side_producer.h"

#include "kafka/producing.h"

namespace hourfold::kafka {
namespace {

constexpr int kServeMs = 100;
constexpr int kPurgeTimeoutMs = 5'000;

}  // namespace

Result<std::unique_ptr<SideProducer>> SideProducer::start(const KafkaClientOptions& options, bool one_by_one,
                                                          Report report, Trouble trouble) {
  std::unique_ptr<SideProducer> producer(new SideProducer(std::move(report), std::move(trouble)));
  ClientBuilder builder(options, Role::kProducer, producer.get());
  rd_kafka_conf_set_dr_msg_cb(builder.conf(),
                              [](rd_kafka_t* client, const rd_kafka_message_t* message, void*) {
                                static_cast<SideProducer*>(owner_of(client))->report_(*message);
                              });
  rd_kafka_conf_set_error_cb(builder.conf(), [](rd_kafka_t* client, int code, const char* text, void*) {
    auto& self = *static_cast<SideProducer*>(owner_of(client));
    if (code == RD_KAFKA_RESP_ERR__FATAL) self.broken_ = true;
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) self.trouble_(text);
  });
  Properties defaults = {{"queue.buffering.max.messages", "100000"},
                         {"queue.buffering.max.kbytes", "65536"},
                         // The topic's own limit decides, not the client's default of 1 MB: records may be as
                         // large as the source's.
                         {"message.max.bytes", "50000000"}};
  if (one_by_one) defaults.emplace_back("batch.num.messages", "1");
  KafkaClientOptions mine = options;
  if (one_by_one) mine.properties.erase("batch.num.messages");
  auto client = build_producer(builder, defaults, {{"message.timeout.ms", "0"}});
  if (!client) return client.error();
  producer->client_ = std::move(*client);
  producer->thread_ = std::thread(&SideProducer::serve, producer.get());
  return producer;
}

SideProducer::~SideProducer() {
  if (client_ == nullptr) return;
  stopping_ = true;
  thread_.join();
  rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(client_.get(), kPurgeTimeoutMs);
}

rd_kafka_resp_err_t SideProducer::enqueue_checked(const OutgoingRecord& record, void* opaque) {
  const auto code = enqueue(client_.get(), record, opaque);
  if (code == RD_KAFKA_RESP_ERR__FATAL) broken_ = true;
  return code;
}

void SideProducer::serve() {
  while (!stopping_) rd_kafka_poll(client_.get(), kServeMs);
}

}  // namespace hourfold::kafka
