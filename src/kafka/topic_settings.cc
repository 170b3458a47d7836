#include "kafka/topic_settings.h"

#include <array>
#include <charconv>
#include <cstring>

#include "kafka/client.h"

namespace hourfold {
namespace kafka {
namespace {

constexpr int kQueryTimeoutMs = 5'000;

using Metadata = std::unique_ptr<const struct rd_kafka_metadata, Destroy<rd_kafka_metadata_destroy>>;
using AdminOptions = std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;
using ConfigResource = std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;

std::int64_t to_int(std::string_view text) {
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<std::int64_t> bound(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

TopicSettings parse(const rd_kafka_ConfigResource_t* resource) {
  TopicSettings settings;
  std::size_t count = 0;
  const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(resource, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* text = rd_kafka_ConfigEntry_value(entries[i]);
    const std::string_view name = rd_kafka_ConfigEntry_name(entries[i]);
    const std::string_view value = text == nullptr ? "" : text;
    if (name == "retention.ms") settings.retention_ms = bound(to_int(value));
    if (name == "retention.bytes") settings.retention_bytes = bound(to_int(value));
    if (name == "message.timestamp.type") settings.timestamp_type = value;
    if (name == "cleanup.policy") settings.cleanup_policy = value;
    if (name == "max.message.bytes") settings.max_message_bytes = to_int(value);
  }
  return settings;
}

}  // namespace

Result<std::int32_t> query_partition_count(rd_kafka_s* client, const std::string& topic) {
  const std::string what = "kafka: topic '" + topic + "'";
  const Topic handle(rd_kafka_topic_new(client, topic.c_str(), nullptr));
  if (handle == nullptr) return to_query_error(rd_kafka_last_error(), what);
  const struct rd_kafka_metadata* answer = nullptr;
  const auto code = rd_kafka_metadata(client, 0, handle.get(), &answer, kQueryTimeoutMs);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return to_query_error(code, "kafka: no broker told about topic '" + topic + "'");
  const Metadata metadata(answer);
  if (metadata->topic_cnt != 1) return unavailable(what + ": the broker's answer does not name it");
  const auto& found = metadata->topics[0];
  if (found.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    return unavailable(what + " does not exist; create it, or correct the configuration");
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) return to_query_error(found.err, what);
  if (found.partition_cnt == 0) return unavailable(what + " has no partitions yet");
  return found.partition_cnt;
}

Result<TopicSettings> query_settings(rd_kafka_s* client, const std::string& topic) {
  const std::string what = "kafka: the configuration of topic '" + topic + "'";
  const ConfigResource wanted(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  const AdminOptions options(rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS));
  std::array<char, 256> words{};
  if (rd_kafka_AdminOptions_set_request_timeout(options.get(), kQueryTimeoutMs, words.data(), words.size()) !=
      RD_KAFKA_RESP_ERR_NO_ERROR)
    return fatal(what + ": " + words.data());
  const Queue answers(rd_kafka_queue_new(client));
  rd_kafka_ConfigResource_t* resources[] = {wanted.get()};
  rd_kafka_DescribeConfigs(client, resources, 1, options.get(), answers.get());
  const Event event(rd_kafka_queue_poll(answers.get(), kQueryTimeoutMs + 1'000));
  if (event == nullptr) return unavailable(what + ": no answer");
  if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return to_query_error(rd_kafka_event_error(event.get()), what);

  std::size_t count = 0;
  const auto* result = rd_kafka_event_DescribeConfigs_result(event.get());
  if (result == nullptr) return unavailable(what + ": the broker's answer is of another kind");
  const rd_kafka_ConfigResource_t** found = rd_kafka_DescribeConfigs_result_resources(result, &count);
  if (count != 1) return unavailable(what + ": the broker's answer does not name it");
  if (const auto code = rd_kafka_ConfigResource_error(found[0]); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return to_query_error(code, what);
  return parse(found[0]);
}

}  // namespace kafka

Result<std::unique_ptr<KafkaTopics>> KafkaTopics::create(const KafkaClientOptions& options) {
  kafka::ClientBuilder builder(options, kafka::Role::kConsumer, nullptr);
  auto client = builder.build({{"client.id", "hourfold"}}, {});
  if (!client) return client.error();
  return std::unique_ptr<KafkaTopics>(new KafkaTopics(std::move(*client)));
}

Result<std::int32_t> KafkaTopics::partition_count(const std::string& topic) const {
  return kafka::query_partition_count(client_.get(), topic);
}

Result<TopicSettings> KafkaTopics::settings(const std::string& topic) const {
  return kafka::query_settings(client_.get(), topic);
}

}  // namespace hourfold
