#include "kafka/client.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hourfold {
namespace kafka {
namespace {

struct OwnedProperty {
  const char* name;
  const char* why;
};

constexpr const char* kCommitRule = "offsets are committed only after their readings have been written";
constexpr const char* kResetRule =
    "an offset that is no longer in the log is reported, never jumped over; see kafka.on_gap";
constexpr const char* kCommittedRule = "readings of a transaction that was aborted are not folded";
constexpr const char* kSideRule = "records of the side topics must not be lost or reordered";

constexpr std::array kOwned = {
    OwnedProperty{"bootstrap.servers", "set kafka.brokers instead"},
    OwnedProperty{"metadata.broker.list", "set kafka.brokers instead"},
    OwnedProperty{"group.id", "set kafka.group instead"},
    OwnedProperty{"group.protocol.type", "the group protocol is fixed"},
    OwnedProperty{"enable.auto.commit", kCommitRule},
    OwnedProperty{"auto.commit.enable", kCommitRule},
    OwnedProperty{"auto.commit.interval.ms", kCommitRule},
    OwnedProperty{"enable.auto.offset.store", kCommitRule},
    OwnedProperty{"offset.store.method", kCommitRule},
    OwnedProperty{"auto.offset.reset", kResetRule},
    OwnedProperty{"isolation.level", kCommittedRule},
    OwnedProperty{"enable.partition.eof", "the offset committed at the end of a partition rests on it"},
    OwnedProperty{"allow.auto.create.topics", "topics are created by the operator, never by use"},
    OwnedProperty{"enable.idempotence", kSideRule},
    OwnedProperty{"enable.gapless.guarantee", kSideRule},
    OwnedProperty{"transactional.id", kSideRule},
    OwnedProperty{"acks", kSideRule},
    OwnedProperty{"request.required.acks", kSideRule},
    OwnedProperty{"message.timeout.ms", kSideRule},
    OwnedProperty{"delivery.timeout.ms", kSideRule},
    OwnedProperty{"retries", kSideRule},
    OwnedProperty{"message.send.max.retries", kSideRule},
    OwnedProperty{"delivery.report.only.error", kSideRule},
    OwnedProperty{"enabled_events", "it belongs to the program that embeds librdkafka"},
    OwnedProperty{"log.queue", "it belongs to the program that embeds librdkafka"},
};

Result<void> set_property(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  std::array<char, 512> words{};
  if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), words.data(), words.size()) != RD_KAFKA_CONF_OK)
    return fatal("kafka.properties: " + name + ": " + words.data());
  return {};
}

// The consumer's and the producer's share of one set of properties is the operator's business only where it
// does not fit.
bool ignorable(const char* facility, const char* text) {
  return std::strcmp(facility, "CONFWARN") == 0 && std::strstr(text, "will be ignored by this") != nullptr;
}

void on_log(const rd_kafka_t* client, int severity, const char* facility, const char* text) {
  const auto* context = static_cast<const ClientContext*>(rd_kafka_opaque(client));
  if (context == nullptr || !context->log || ignorable(facility, text)) return;
  context->log(severity, std::string(facility) + ": " + text);
}

bool for_consumers_only(const std::string& name) {
  // An idempotent producer sets its own bound of requests in flight and refuses others.
  return name == "max.in.flight" || name == "max.in.flight.requests.per.connection";
}

}  // namespace

ClientBuilder::ClientBuilder(const KafkaClientOptions& options, Role role, void* owner)
    : options_(options),
      role_(role),
      context_(std::make_shared<ClientContext>(ClientContext{options.log, owner})),
      conf_(rd_kafka_conf_new()) {}

ClientBuilder::~ClientBuilder() {
  if (conf_ != nullptr) rd_kafka_conf_destroy(conf_);
}

Result<void> ClientBuilder::set(const std::string& name, const std::string& value) {
  return set_property(conf_, name, value);
}

Result<Client> ClientBuilder::build(const Properties& defaults, const Properties& owned) {
  for (const auto& [name, value] : defaults)
    if (auto done = set(name, value); !done) return done.error();
  if (auto allowed = check_kafka_properties(options_.properties); !allowed) return allowed.error();
  for (const auto& [name, value] : options_.properties) {
    if (role_ == Role::kProducer && for_consumers_only(name)) continue;
    if (auto done = set(name, value); !done) return done.error();
  }
  for (const auto& [name, value] : owned)
    if (auto done = set(name, value); !done) return done.error();
  if (auto done = set("bootstrap.servers", options_.brokers); !done) return done.error();

  rd_kafka_conf_set_opaque(conf_, context_.get());
  rd_kafka_conf_set_log_cb(conf_, on_log);
  std::array<char, 512> words{};
  rd_kafka_t* client = rd_kafka_new(role_ == Role::kConsumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER, conf_,
                                    words.data(), words.size());
  if (client == nullptr) return fatal(std::string("kafka: the client cannot be made: ") + words.data());
  conf_ = nullptr;  // the client's now
  // NO_CONSUMER_CLOSE: leaving the group is the source's stop(), which is bounded; destroying must not wait
  // for a coordinator.
  return Client(client, [context = context_](rd_kafka_t* dying) {
    rd_kafka_destroy_flags(dying, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  });
}

void* owner_of(rd_kafka_t* client) { return static_cast<ClientContext*>(rd_kafka_opaque(client))->owner; }

TopicList make_list(const std::string& topic, PartitionId partition, std::int64_t offset) {
  TopicList list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition.value)->offset = offset;
  return list;
}

Result<std::optional<CommittedOffset>> query_committed(rd_kafka_t* client, const std::string& group,
                                                       const std::string& topic, PartitionId partition) {
  constexpr int kTimeoutMs = 5'000;
  const auto list = make_list(topic, partition, RD_KAFKA_OFFSET_INVALID);
  auto code = rd_kafka_committed(client, list.get(), kTimeoutMs);
  const auto& entry = list->elems[0];
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) code = entry.err;
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return to_query_error(code, "kafka: committed offset of " + topic + "/" +
                                    std::to_string(partition.value) + " in group '" + group + "'");
  }
  if (entry.offset < 0) return std::optional<CommittedOffset>();
  const auto* metadata = static_cast<const char*>(entry.metadata);
  return std::optional(
      CommittedOffset{{entry.offset}, metadata == nullptr ? "" : std::string(metadata, entry.metadata_size)});
}

namespace {

ErrorKind kind_of(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
      return ErrorKind::kFatal;
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__DESTROY:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
      return ErrorKind::kUnknown;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
      return ErrorKind::kRefused;
    default:
      return ErrorKind::kUnavailable;
  }
}

}  // namespace

Error to_error(rd_kafka_resp_err_t code, const std::string& what) {
  return {kind_of(code), what + ": " + rd_kafka_err2str(code)};
}

Error to_query_error(rd_kafka_resp_err_t code, const std::string& what) {
  Error error = to_error(code, what);
  if (error.kind == ErrorKind::kUnknown) error.kind = ErrorKind::kUnavailable;
  return error;
}

}  // namespace kafka

Result<void> check_kafka_properties(const std::map<std::string, std::string>& properties) {
  std::unique_ptr<rd_kafka_conf_t, kafka::Destroy<rd_kafka_conf_destroy>> scratch(rd_kafka_conf_new());
  for (const auto& [name, value] : properties) {
    const auto* owned = std::ranges::find(kafka::kOwned, name, &kafka::OwnedProperty::name);
    if (owned != kafka::kOwned.end())
      return fatal("kafka.properties: " + name + " cannot be set: " + owned->why);
    if (name == "partition.assignment.strategy" && value.find("cooperative") != std::string::npos)
      return fatal("kafka.properties: partition.assignment.strategy=" + value +
                   " cannot be set: cooperative rebalancing is not supported; use range or roundrobin, and "
                   "group.instance.id "
                   "to avoid rebalances at restarts");
    if (auto done = kafka::set_property(scratch.get(), name, value); !done) return done.error();
  }
  return {};
}

}  // namespace hourfold
