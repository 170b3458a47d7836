#include "kafka/group_member.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/check.h"
#include "kafka/message_grouping.h"

namespace hourfold {

Result<std::unique_ptr<KafkaSource>> KafkaSource::create(const KafkaSourceOptions& options) {
  return kafka::GroupMember::create(options);
}

namespace kafka {
namespace {

constexpr std::size_t kFetchMax = 10'000;  // messages per poll()
constexpr int kQueryTimeoutMs = 5'000;
constexpr int kCommitTimeoutMs = 5'000;
constexpr int kCloseTimeoutMs = 5'000;
constexpr int kSettleRetryMs = 10;

}  // namespace

Result<std::unique_ptr<KafkaSource>> GroupMember::create(const KafkaSourceOptions& options) {
  if (options.topic.empty() || options.topic.front() == '^')
    return fatal("kafka: '" + options.topic + "' is not a topic's name");
  if (options.group.empty()) return fatal("kafka: the consumer group has no name");
  std::unique_ptr<GroupMember> member(new GroupMember(options));
  if (auto connected = member->connect(options); !connected) return connected.error();
  return std::unique_ptr<KafkaSource>(std::move(member));
}

Result<void> GroupMember::connect(const KafkaSourceOptions& options) {
  ClientBuilder builder(options.client, Role::kConsumer, this);
  rd_kafka_conf_set_rebalance_cb(builder.conf(), [](rd_kafka_t* client, rd_kafka_resp_err_t code,
                                                    rd_kafka_topic_partition_list_t* partitions, void*) {
    static_cast<GroupMember*>(owner_of(client))->note_rebalance(code, partitions);
    rd_kafka_yield(client);  // do not wait for records before it is served
  });
  rd_kafka_conf_set_error_cb(builder.conf(), [](rd_kafka_t* client, int code, const char* text, void*) {
    static_cast<GroupMember*>(owner_of(client))->note_error(static_cast<rd_kafka_resp_err_t>(code), text);
  });
  auto client =
      builder.build({{"client.id", "hourfold"},
                     // Off in librdkafka; a flipped bit in a value would be folded into an hour for ever.
                     {"check.crcs", "true"},
                     {"queued.max.messages.kbytes", std::to_string(kDefaultQueueKbytes)},
                     {"queued.min.messages", "1000000"},
                     // How soon the group hands out partitions that were added.
                     {"topic.metadata.refresh.interval.ms", "10000"},
                     {"fetch.message.max.bytes", "4000000"},
                     {"partition.assignment.strategy", "range,roundrobin"}},
                    {{"group.id", group_},
                     {"enable.auto.commit", "false"},
                     {"enable.auto.offset.store", "false"},
                     {"auto.offset.reset", "error"},
                     // Readings of a transaction that is aborted never were.
                     {"isolation.level", "read_committed"},
                     // Tells how far the log has been read where it ends in something that is no record.
                     {"enable.partition.eof", "true"}});
  if (!client) return client.error();
  client_ = std::move(*client);
  rd_kafka_poll_set_consumer(client_.get());
  records_.reset(rd_kafka_queue_get_consumer(client_.get()));
  commits_.emplace(client_, topic_);
  fetched_.resize(kFetchMax);
  return {};
}

GroupMember::~GroupMember() {
  if (client_ != nullptr) stop();
}

Result<void> GroupMember::start(Listener* listener) {
  HF_CHECK(listener != nullptr && !stopped_);
  auto count = partition_count();
  if (!count) {
    rd_kafka_consumer_poll(client_.get(), 0);  // for the reason, which comes by the error callback
    if (fatal_) return *fatal_;
    const auto reason = last_error();
    return Error{count.error().kind, count.error().message + (reason.empty() ? "" : " (" + reason + ")")};
  }
  listener_ = listener;
  partitions_.resize(static_cast<std::size_t>(*count));
  const auto list = make_list(topic_, {RD_KAFKA_PARTITION_UA}, RD_KAFKA_OFFSET_INVALID);
  if (const auto code = rd_kafka_subscribe(client_.get(), list.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return to_error(code, "kafka: subscribing to '" + topic_ + "'");
  return {};
}

Result<void> GroupMember::poll(int timeout_ms, std::vector<RecordBatch>& out) {
  HF_CHECK(listener_ != nullptr && !stopped_);
  if (reassign_) apply_assignment();
  const auto count = fetch(settle_all() ? timeout_ms : std::min(timeout_ms, kSettleRetryMs));
  // What came together with a revocation is not given out: its reader could not do anything with it before
  // on_revoked().
  const bool revoking = std::ranges::any_of(rebalances_, [](const Rebalance& r) { return !r.assign; });
  hand_out({fetched_.data(), count}, revoking, out);
  serve_rebalances();
  for (const auto partition : std::exchange(out_of_range_, {})) check_out_of_range(partition);
  if (fatal_) return *fatal_;
  return {};
}

// Waits for one message, then takes what else is there. rd_kafka_consume_batch_queue() alone would wait for
// its whole timeout whenever fewer messages than asked for are there.
std::size_t GroupMember::fetch(int timeout_ms) {
  auto* first = rd_kafka_consumer_poll(client_.get(), timeout_ms);
  if (first == nullptr) return 0;
  fetched_[0] = first;
  const auto more = rd_kafka_consume_batch_queue(records_.get(), 0, fetched_.data() + 1, fetched_.size() - 1);
  return 1 + static_cast<std::size_t>(std::max<ssize_t>(0, more));
}

void GroupMember::hand_out(std::span<rd_kafka_message_t* const> messages, bool revoking,
                           std::vector<RecordBatch>& out) {
  MessageGrouping grouping(client_, messages, out);
  std::uint64_t records = 0, bytes = 0, stale = 0;
  for (auto* message : messages) {
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (take_error(*message) && !revoking) grouping.ends(*message);
      rd_kafka_message_destroy(message);
    } else if (revoking || !position_of({message->partition}).take({message->offset})) {
      ++stale;
      rd_kafka_message_destroy(message);
    } else {
      ++records;
      bytes += message->key_len + message->len;
      grouping.add(message);
    }
  }
  record_count_.fetch_add(records, std::memory_order_relaxed);
  byte_count_.fetch_add(bytes, std::memory_order_relaxed);
  stale_count_.fetch_add(stale, std::memory_order_relaxed);
  if (records != 0 && has_error_.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(error_mutex_);
    last_error_.clear();
    has_error_ = false;
  }
}

bool GroupMember::take_error(const rd_kafka_message_t& message) {
  const bool of_partition = message.rkt != nullptr && message.partition >= 0;
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
    return of_partition && position_of({message.partition}).reach({message.offset});
  note_error(message.err, rd_kafka_message_errstr(&message));
  // It may stand for records, such as those of a batch that fails its checksum.
  if (of_partition) position_of({message.partition}).missed();
  if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) out_of_range_.push_back({message.partition});
  return false;
}

// Such an error carries no sign of the seek that it belongs to, and may be older than the position: the log's
// bounds decide. The fetcher has stopped in any case.
void GroupMember::check_out_of_range(PartitionId partition) {
  auto& state = position_of(partition);
  if (!state.owned) return;
  reassign_ = true;
  if (!state.reads()) return;
  const auto log = bounds(partition);
  if (!log || (state.next >= log->first && state.next <= log->end)) return;
  state.reading = false;
  listener_->on_out_of_range(partition);
}

void GroupMember::note_error(rd_kafka_resp_err_t code, const char* text) {
  error_count_.fetch_add(1, std::memory_order_relaxed);
  std::string words = std::string(rd_kafka_err2name(code)) + ": " + text;
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    std::array<char, 512> why{};
    const auto reason = rd_kafka_fatal_error(client_.get(), why.data(), why.size());
    words = std::string(rd_kafka_err2name(reason)) + ": " + why.data();
  }
  // Once running, the service waits for brokers that refuse its credentials: they may be starting.
  const bool running = listener_ != nullptr;
  const bool waits = running && code == RD_KAFKA_RESP_ERR__AUTHENTICATION;
  if (to_error(code, "").kind == ErrorKind::kFatal && !waits && !fatal_) fatal_ = fatal("kafka: " + words);
  const std::lock_guard lock(error_mutex_);
  // "All brokers are down" says less than the error before it.
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !last_error_.empty()) return;
  last_error_ = std::move(words);
  has_error_ = true;
}

Result<std::int32_t> GroupMember::partition_count() { return query_partition_count(client_.get(), topic_); }

Result<std::optional<CommittedOffset>> GroupMember::committed(PartitionId partition) {
  return query_committed(client_.get(), group_, topic_, partition);
}

Result<LogBounds> GroupMember::bounds(PartitionId partition) {
  LogBounds bounds{{0}, {0}};
  const auto code = rd_kafka_query_watermark_offsets(client_.get(), topic_.c_str(), partition.value,
                                                     &bounds.first.value, &bounds.end.value, kQueryTimeoutMs);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return to_query_error(code, "kafka: bounds of " + name_of(partition));
  return bounds;
}

std::optional<LogBounds> GroupMember::known_bounds(PartitionId partition) const {
  LogBounds bounds{{-1}, {-1}};
  const auto code = rd_kafka_get_watermark_offsets(client_.get(), topic_.c_str(), partition.value,
                                                   &bounds.first.value, &bounds.end.value);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR || bounds.first.value < 0 || bounds.end.value < 0)
    return std::nullopt;
  return bounds;
}

Result<TopicSettings> GroupMember::topic_settings() { return query_settings(client_.get(), topic_); }

Result<void> GroupMember::commit(PartitionId partition, const CommittedOffset& offset) {
  if (!position_of(partition).owned)
    return unavailable("kafka: " + name_of(partition) + " is not ours to commit");
  return commits_->send(partition, offset);
}

Result<void> GroupMember::commit_now(PartitionId partition, const CommittedOffset& offset) {
  if (!position_of(partition).owned)
    return unavailable("kafka: " + name_of(partition) + " is not ours to commit");
  return commits_->send_and_wait(partition, offset, kCommitTimeoutMs);
}

void GroupMember::take_commit_results(std::vector<CommitResult>& out) { commits_->take_results(out); }

void GroupMember::stop() {
  if (std::exchange(stopped_, true)) return;
  if (listener_ != nullptr) revoked();  // still a member: the listener may commit
  close_group();
}

void GroupMember::close_group() {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(kCloseTimeoutMs);
  const Queue events(rd_kafka_queue_new(client_.get()));
  const KafkaError refused(rd_kafka_consumer_close_queue(client_.get(), events.get()));
  if (refused != nullptr) return;
  while (rd_kafka_consumer_closed(client_.get()) == 0 && Clock::now() < deadline) {
    const Event event(rd_kafka_queue_poll(events.get(), 100));
    if (event != nullptr && rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_REBALANCE)
      rd_kafka_assign(client_.get(), nullptr);
  }
}

std::string GroupMember::last_error() const {
  const std::lock_guard lock(error_mutex_);
  return last_error_;
}

KafkaSourceStats GroupMember::stats() const {
  return {record_count_.load(std::memory_order_relaxed),    byte_count_.load(std::memory_order_relaxed),
          stale_count_.load(std::memory_order_relaxed),     error_count_.load(std::memory_order_relaxed),
          rebalance_count_.load(std::memory_order_relaxed), rd_kafka_queue_length(records_.get())};
}

}  // namespace kafka
}  // namespace hourfold
