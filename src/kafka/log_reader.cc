#include "kafka/log_reader.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <span>
#include <utility>

#include "core/check.h"
#include "kafka/message_grouping.h"

namespace hourfold {
namespace kafka {
namespace {

constexpr std::size_t kFetchMax = 10'000;  // messages per poll()
constexpr int kQueryTimeoutMs = 5'000;

class AssignedReader final : public LogReader {
 public:
  explicit AssignedReader(const KafkaSourceOptions& options) : topic_(options.topic), group_(options.group) {}

  Result<void> connect(const KafkaSourceOptions& options) {
    ClientBuilder builder(options.client, Role::kConsumer, this);
    rd_kafka_conf_set_error_cb(builder.conf(), [](rd_kafka_t* client, int code, const char* text, void*) {
      static_cast<AssignedReader*>(owner_of(client))
          ->note_error(static_cast<rd_kafka_resp_err_t>(code), text);
    });
    auto client = builder.build({{"client.id", "hourfold"},
                                 {"check.crcs", "true"},
                                 {"queued.max.messages.kbytes", "131072"},
                                 {"queued.min.messages", "1000000"},
                                 {"fetch.message.max.bytes", "4000000"}},
                                {{"group.id", group_},
                                 {"enable.auto.commit", "false"},
                                 {"enable.auto.offset.store", "false"},
                                 {"isolation.level", "read_committed"},
                                 {"enable.partition.eof", "true"},
                                 {"auto.offset.reset", "error"}});
    if (!client) return client.error();
    client_ = std::move(*client);
    rd_kafka_poll_set_consumer(client_.get());
    records_.reset(rd_kafka_queue_get_consumer(client_.get()));
    fetched_.resize(kFetchMax);
    return {};
  }

  Result<std::int32_t> partition_count() override { return query_partition_count(client_.get(), topic_); }

  Result<LogBounds> bounds(PartitionId partition) override {
    LogBounds bounds{{0}, {0}};
    const auto code =
        rd_kafka_query_watermark_offsets(client_.get(), topic_.c_str(), partition.value, &bounds.first.value,
                                         &bounds.end.value, kQueryTimeoutMs);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
      return to_query_error(code, "kafka: bounds of " + name_of(partition));
    return bounds;
  }

  Result<std::optional<CommittedOffset>> committed(PartitionId partition) override {
    return query_committed(client_.get(), group_, topic_, partition);
  }

  Result<std::optional<Offset>> offset_at(PartitionId partition, EpochMs time) override {
    const auto list = make_list(topic_, partition, time);
    auto code = rd_kafka_offsets_for_times(client_.get(), list.get(), kQueryTimeoutMs);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) code = list->elems[0].err;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
      return to_query_error(code, "kafka: offset of " + name_of(partition) + " by time");
    const std::int64_t offset = list->elems[0].offset;
    return offset < 0 ? std::optional<Offset>() : std::optional(Offset{offset});
  }

  Result<void> start(const std::map<PartitionId, LogBounds>& ranges) override {
    HF_CHECK(!std::exchange(started_, true));
    const TopicList list(rd_kafka_topic_partition_list_new(static_cast<int>(ranges.size())));
    for (const auto& [partition, range] : ranges) {
      if (range.first >= range.end) continue;
      ranges_.emplace(partition, range);
      rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), partition.value)->offset =
          range.first.value;
    }
    if (const auto code = rd_kafka_assign(client_.get(), list.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
      return to_error(code, "kafka: reading '" + topic_ + "'");
    return {};
  }

  Result<void> poll(int timeout_ms, std::vector<RecordBatch>& out) override {
    const std::size_t count = fetch(timeout_ms);
    hand_out({fetched_.data(), count}, out);
    if (fatal_) return *fatal_;
    return {};
  }

  void finish(PartitionId partition) override {
    if (ranges_.erase(partition) == 0) return;
    const auto list = make_list(topic_, partition, RD_KAFKA_OFFSET_INVALID);
    rd_kafka_pause_partitions(client_.get(), list.get());
  }

  bool done() const override { return ranges_.empty(); }

  std::string last_error() const override {
    const std::lock_guard lock(error_mutex_);
    return last_error_;
  }

 private:
  std::string name_of(PartitionId partition) const { return topic_ + "/" + std::to_string(partition.value); }

  std::size_t fetch(int timeout_ms) {
    auto* first = rd_kafka_consumer_poll(client_.get(), timeout_ms);
    if (first == nullptr) return 0;
    fetched_[0] = first;
    const auto more =
        rd_kafka_consume_batch_queue(records_.get(), 0, fetched_.data() + 1, fetched_.size() - 1);
    return 1 + static_cast<std::size_t>(std::max<ssize_t>(0, more));
  }

  void hand_out(std::span<rd_kafka_message_t* const> messages, std::vector<RecordBatch>& out) {
    MessageGrouping grouping(client_, messages, out);
    std::map<PartitionId, Offset> reached;
    for (auto* message : messages) {
      const PartitionId partition{message->partition};
      const auto range = ranges_.find(partition);
      const bool ours = range != ranges_.end() && message->offset >= range->second.first.value;
      const bool is_record = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
      if (is_record && ours && message->offset < range->second.end.value) {
        range->second.first = {message->offset + 1};
        grouping.add(message);
      } else {
        if (!is_record && message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
          take_error(*message);
        } else if (ours) {
          // The end of the log, or a record beyond the range.
          range->second.first = {message->offset};
        }
        rd_kafka_message_destroy(message);
      }
      if (ours && range->second.first >= range->second.end) reached[partition] = range->second.end;
    }
    for (const auto& [partition, end] : reached) {
      out.emplace_back().partition = partition;
      out.back().read_to = end;
      finish(partition);
    }
    if (messages.empty() || out.empty()) return;
    const std::lock_guard lock(error_mutex_);
    last_error_.clear();
  }

  void take_error(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
      const PartitionId partition{message.partition};
      if (ranges_.contains(partition))
        fatal_ = fatal("kafka: offset " + std::to_string(ranges_.at(partition).first.value) + " of " +
                       name_of(partition) +
                       " left the log while it was about to be read (retention): start again");
      return;
    }
    note_error(message.err, rd_kafka_message_errstr(&message));
  }

  void note_error(rd_kafka_resp_err_t code, const char* text) {
    std::string words = std::string(rd_kafka_err2name(code)) + ": " + text;
    if (to_error(code, "").kind == ErrorKind::kFatal && !fatal_) fatal_ = fatal("kafka: " + words);
    const std::lock_guard lock(error_mutex_);
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !last_error_.empty()) return;
    last_error_ = std::move(words);
  }

  std::string topic_;
  std::string group_;
  Client client_;
  Queue records_;
  std::vector<rd_kafka_message_t*> fetched_;  // room for one fetch()
  std::map<PartitionId, LogBounds> ranges_;   // what is still to be read
  bool started_ = false;
  std::optional<Error> fatal_;
  mutable std::mutex error_mutex_;
  std::string last_error_;
};

}  // namespace
}  // namespace kafka

Result<std::unique_ptr<LogReader>> LogReader::create(const KafkaSourceOptions& options) {
  auto reader = std::make_unique<kafka::AssignedReader>(options);
  if (auto connected = reader->connect(options); !connected) return connected.error();
  return std::unique_ptr<LogReader>(std::move(reader));
}

}  // namespace hourfold
