// librdkafka's objects with owners, and the one way in which clients are made. For the .cc files of this
// folder and their tests.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/types.h"
#include "kafka/client_options.h"
#include "ports/record_source.h"

namespace hourfold::kafka {

template <auto kDestroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};

using TopicList =
    std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy<rd_kafka_topic_partition_list_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using KafkaError = std::unique_ptr<rd_kafka_error_t, Destroy<rd_kafka_error_destroy>>;
using Topic = std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_destroy>>;

// A client lives until the last batch of its messages is gone: librdkafka does not survive messages that
// outlive it.
using Client = std::shared_ptr<rd_kafka_t>;

// What a client's callbacks find behind rd_kafka_opaque().
struct ClientContext {
  KafkaLog log;
  void* owner = nullptr;
};

using Properties = std::vector<std::pair<const char*, std::string>>;

enum class Role { kConsumer, kProducer };

// Collects a configuration: defaults first, the operator's properties over them, then what the product owns.
class ClientBuilder {
 public:
  ClientBuilder(const KafkaClientOptions& options, Role role, void* owner);
  ~ClientBuilder();
  ClientBuilder(const ClientBuilder&) = delete;
  ClientBuilder& operator=(const ClientBuilder&) = delete;

  rd_kafka_conf_t* conf() { return conf_; }
  // Fatal: a property that is unknown or cannot be (librdkafka's words). The builder is spent afterwards.
  Result<Client> build(const Properties& defaults, const Properties& owned);

 private:
  Result<void> set(const std::string& name, const std::string& value);

  const KafkaClientOptions& options_;
  Role role_;
  std::shared_ptr<ClientContext> context_;
  rd_kafka_conf_t* conf_;
};

void* owner_of(rd_kafka_t* client);

TopicList make_list(const std::string& topic, PartitionId partition, std::int64_t offset);

// What the client's group has committed of a partition; empty if nothing.
Result<std::optional<CommittedOffset>> query_committed(rd_kafka_t* client, const std::string& group,
                                                       const std::string& topic, PartitionId partition);

// "<what>: <librdkafka's words>", with the kind that says what the caller does next.
Error to_error(rd_kafka_resp_err_t code, const std::string& what);
// The same for calls that change nothing: what may have happened does not matter, so Unknown is Unavailable.
Error to_query_error(rd_kafka_resp_err_t code, const std::string& what);

}  // namespace hourfold::kafka
