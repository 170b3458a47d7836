// A producer with the thread that serves its delivery reports.
//
// Threads: produce(), broken() and queued() from any thread; reports come on the class's own.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "kafka/client.h"
#include "kafka/kafka_producer.h"

namespace hourfold::kafka {

class SideProducer {
 public:
  // message.err tells the outcome; opaque is message._private.
  using Report = std::function<void(const rd_kafka_message_t& message)>;
  using Trouble = std::function<void(const std::string& words)>;

  // one_by_one: every record in a batch of its own.
  static Result<std::unique_ptr<SideProducer>> start(const KafkaClientOptions& options, bool one_by_one,
                                                     Report report, Trouble trouble);
  // What is still on its way is reported as failed.
  ~SideProducer();

  rd_kafka_resp_err_t produce(const OutgoingRecord& record, void* opaque) {
    return enqueue_checked(record, opaque);
  }
  // It raised a fatal error (its sequence of records broke at a broker) and takes no more.
  bool broken() const { return broken_; }
  std::uint64_t queued() const { return static_cast<std::uint64_t>(rd_kafka_outq_len(client_.get())); }

 private:
  SideProducer(Report report, Trouble trouble) : report_(std::move(report)), trouble_(std::move(trouble)) {}
  rd_kafka_resp_err_t enqueue_checked(const OutgoingRecord& record, void* opaque);
  void serve();

  Report report_;
  Trouble trouble_;
  Client client_;
  std::atomic<bool> broken_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace hourfold::kafka
