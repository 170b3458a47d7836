#include "kafka/message_grouping.h"

namespace hourfold::kafka {
namespace {

// librdkafka keeps about this much per message beside the payload.
constexpr std::size_t kMessageOverhead = 320;

struct MessageBlock {
  Client client;  // declared first: outlives the messages
  std::vector<rd_kafka_message_t*> messages;

  explicit MessageBlock(Client owner) : client(std::move(owner)) {}
  MessageBlock(const MessageBlock&) = delete;
  MessageBlock& operator=(const MessageBlock&) = delete;
  ~MessageBlock() {
    for (auto* message : messages) rd_kafka_message_destroy(message);
  }
};

std::string_view view(const void* bytes, std::size_t size) { return {static_cast<const char*>(bytes), size}; }

}  // namespace

RecordHeaders copy_headers(const rd_kafka_headers_t* headers) {
  RecordHeaders copies;
  copies.reserve(rd_kafka_header_cnt(headers));
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
    copies.push_back({name, value == nullptr ? std::nullopt : std::optional(std::string(view(value, size)))});
  return copies;
}

MessageGrouping::MessageGrouping(Client client, std::span<rd_kafka_message_t* const> messages,
                                 std::vector<RecordBatch>& out)
    : client_(std::move(client)), out_(out) {
  for (const auto* message : messages) ++group_of(message->partition).count;
}

MessageGrouping::Group& MessageGrouping::group_of(std::int32_t partition) {
  if (last_ < groups_.size() && groups_[last_].partition == partition) return groups_[last_];
  for (last_ = 0; last_ < groups_.size(); ++last_)
    if (groups_[last_].partition == partition) return groups_[last_];
  return groups_.emplace_back(Group{partition, 0});
}

void MessageGrouping::open(Group& group) {
  auto block = std::make_shared<MessageBlock>(client_);
  block->messages.reserve(group.count);
  group.batch = out_.size();
  group.messages = &block->messages;
  auto& batch = out_.emplace_back();
  batch.partition = {group.partition};
  batch.records.reserve(group.count);
  batch.memory = std::move(block);
}

void MessageGrouping::add(rd_kafka_message_t* message) {
  Group& group = group_of(message->partition);
  if (group.messages == nullptr) open(group);
  group.messages->push_back(message);
  RecordBatch& batch = out_[group.batch];
  Record& record = batch.records.emplace_back();
  record.offset = {message->offset};
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const auto timestamp = rd_kafka_message_timestamp(message, &type);
  record.timestamp_ms = type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : timestamp;
  if (message->key != nullptr) record.key = view(message->key, message->key_len);
  if (message->payload != nullptr) record.value = view(message->payload, message->len);
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
    record.headers = std::make_shared<const RecordHeaders>(copy_headers(headers));
  batch.bytes += message->key_len + message->len + sizeof(Record) + kMessageOverhead;
}

void MessageGrouping::ends(const rd_kafka_message_t& message) {
  Group& group = group_of(message.partition);
  if (group.messages == nullptr) open(group);
  out_[group.batch].read_to = Offset{message.offset};
}

}  // namespace hourfold::kafka
