#include "kafka/kafka_side_output.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <mutex>
#include <utility>

#include "core/check.h"
#include "kafka/message_grouping.h"
#include "kafka/side_producer.h"
#include "kafka/topic_settings.h"

namespace hourfold {
namespace kafka {
namespace {

// Where the outcomes of one worker's records wait for it.
struct Mailbox {
  std::mutex mutex;
  SideOutcomes outcomes;
};

// What is left of a record, one step at a time, where its topic does not take it as it is.
enum class Form : std::uint8_t { kBatched, kAlone, kWithoutValue, kBare };

// Goes with a record through librdkafka and comes back with its delivery report.
struct Ticket {
  std::shared_ptr<Mailbox> mailbox;
  Position position;
  EpochMs timestamp_ms;  // librdkafka does not tell that of a message that failed; -1: the broker's
  Form form = Form::kBatched;
  bool reduced = false;
};

constexpr const char* kDetail = "hourfold.detail";
// Of a detail in a record that is as small as it can be.
constexpr std::size_t kMaxBareDetail = 256;

RecordHeaders headers_of(const SideRecord& record) {
  RecordHeaders headers = record.headers;
  headers.push_back({"hourfold.reason", record.reason});
  headers.push_back({"hourfold.topic", record.topic});
  headers.push_back({"hourfold.partition", std::to_string(record.partition.value)});
  headers.push_back({"hourfold.offset", std::to_string(record.position.offset.value)});
  headers.push_back({"hourfold.index", std::to_string(record.position.index)});
  if (!record.detail.empty()) headers.push_back({kDetail, record.detail});
  return headers;
}

std::optional<std::string_view> view(const std::optional<std::string>& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

// The last header of a name is this product's; a record may have been through a side topic before.
void say(RecordHeaders& headers, const std::string& words) {
  if (!headers.empty() && headers.back().name == kDetail)
    headers.back().value = headers.back().value.value_or("") + "; " + words;
  else
    headers.push_back({kDetail, words});
}

// Where the original is, why it is here, and the beginning of the detail.
RecordHeaders bare(const RecordHeaders& headers) {
  RecordHeaders kept;
  for (const char* name : {"hourfold.reason", "hourfold.topic", "hourfold.partition", "hourfold.offset",
                           "hourfold.index", kDetail}) {
    const auto last = std::find_if(headers.rbegin(), headers.rend(),
                                   [&](const RecordHeader& header) { return header.name == name; });
    if (last != headers.rend()) kept.push_back(*last);
  }
  for (RecordHeader& header : kept)
    if (header.value && header.value->size() > kMaxBareDetail) header.value->resize(kMaxBareDetail);
  return kept;
}

bool is_too_large(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE ||
         code == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE;
}

// Whether the record is to blame, or another one of its batch: the same bytes will never pass.
bool is_for_good(rd_kafka_resp_err_t code) {
  return is_too_large(code) || code == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP ||
         code == RD_KAFKA_RESP_ERR_INVALID_RECORD || code == RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT;
}

// Turns a record that was refused into the next form in which it may pass; headers are those it refers to.
// False: there is none.
bool reduce(rd_kafka_resp_err_t code, OutgoingRecord& record, RecordHeaders& headers, Ticket& ticket) {
  if (ticket.form == Form::kBatched) {
    ticket.form = Form::kAlone;
    return true;
  }
  if (code == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP && record.timestamp_ms >= 0) {
    say(headers, "the side topic does not take its timestamp " + std::to_string(record.timestamp_ms));
    record.timestamp_ms = ticket.timestamp_ms = -1;
    ticket.reduced = true;
    return true;
  }
  if (!is_too_large(code) || ticket.form == Form::kBare) return false;
  ticket.reduced = true;
  if (ticket.form == Form::kAlone) {
    ticket.form = Form::kWithoutValue;
    say(headers, "the value of " + std::to_string(record.value ? record.value->size() : 0) +
                     " bytes is left out: the side topic does not take a record of its size");
    record.value = std::string_view("");
    return true;
  }
  ticket.form = Form::kBare;
  say(headers, "key and headers are left out, too");
  headers = bare(headers);
  record.key = std::nullopt;
  return true;
}

class SideTopics final : public KafkaSideOutputs {
 public:
  SideTopics(const KafkaSideOptions& options, std::unique_ptr<KafkaTopics> topics)
      : options_(options), topics_(std::move(topics)) {}

  ~SideTopics() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    for (auto& producer : producers_) producer.reset();
  }

  // Makes the producer early, so that a wrong property is told at start.
  Result<void> connect() {
    const std::lock_guard lock(mutex_);
    return start(0);
  }

  Result<void> check() override {
    for (const auto& [channel, topic] : options_.topics) {
      const auto count = topics_->partition_count(topic);
      if (!count)
        return Error{count.error().kind, count.error().message + " (side." + to_string(channel) + ")"};
    }
    return {};
  }

  std::unique_ptr<SideOutput> open(PartitionId partition) override;

  Result<void> send(const SideRecord& record, const std::shared_ptr<Mailbox>& mailbox) {
    const auto topic = options_.topics.find(record.channel);
    HF_CHECK(topic != options_.topics.end());
    RecordHeaders headers = headers_of(record);
    OutgoingRecord outgoing{topic->second,      std::nullopt,        view(record.key),
                            view(record.value), record.timestamp_ms, &headers};
    auto ticket = std::make_unique<Ticket>(Ticket{mailbox, record.position, record.timestamp_ms});
    auto code = submit(0, outgoing, ticket, true);
    if (is_for_good(code)) code = submit_reduced(code, outgoing, headers, ticket);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    const std::string why = "kafka: side topic '" + topic->second + "': " + rd_kafka_err2str(code);
    if (!is_for_good(code)) return unavailable(why);
    ++refused_;
    return refused(why);
  }

  std::string last_error() const override {
    const std::lock_guard lock(error_mutex_);
    return last_error_;
  }

  KafkaSideStats stats() const override {
    const std::lock_guard lock(mutex_);
    std::uint64_t queued = 0;
    for (const auto& producer : producers_) queued += producer == nullptr ? 0 : producer->queued();
    return {delivered_, failed_, reduced_, refused_, queued};
  }

 private:
  // 0: batches; 1: every record alone, made when it is first needed.
  static constexpr std::size_t kLanes = 2;

  Result<void> start(std::size_t lane) {
    auto producer = SideProducer::start(
        options_.client, lane == 1, [this](const rd_kafka_message_t& message) { report(message); },
        [this](const std::string& words) { note(words); });
    if (!producer) return producer.error();
    producers_[lane] = std::move(*producer);
    return {};
  }

  // On NO_ERROR the ticket is on its way. may_replace: not from a delivery report, which runs on a thread
  // that replacing would join.
  rd_kafka_resp_err_t submit(std::size_t lane, const OutgoingRecord& record, std::unique_ptr<Ticket>& ticket,
                             bool may_replace) {
    std::array<std::unique_ptr<SideProducer>, kLanes>
        dead;  // declared before the lock: joined after it is released
    const std::lock_guard lock(mutex_);
    if (closing_) return RD_KAFKA_RESP_ERR__DESTROY;
    for (std::size_t i = 0; may_replace && i < kLanes; ++i)
      if (producers_[i] != nullptr && producers_[i]->broken()) dead[i] = std::move(producers_[i]);
    if (producers_[lane] == nullptr)
      if (auto started = start(lane); !started) return RD_KAFKA_RESP_ERR__FATAL;
    const auto code = producers_[lane]->produce(record, ticket.get());
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) static_cast<void>(ticket.release());
    return code;
  }

  // Tries one form after the other, until one is on its way, none is left, or there is a trouble that passes.
  rd_kafka_resp_err_t submit_reduced(rd_kafka_resp_err_t code, OutgoingRecord& record, RecordHeaders& headers,
                                     std::unique_ptr<Ticket>& ticket) {
    while (is_for_good(code) && reduce(code, record, headers, *ticket)) {
      record.headers = &headers;
      code = submit(1, record, ticket, false);
    }
    return code;
  }

  void report(const rd_kafka_message_t& message) {
    std::unique_ptr<Ticket> ticket(static_cast<Ticket*>(message._private));
    auto code = message.err;
    if (is_for_good(code)) code = send_again(message, ticket);
    if (ticket == nullptr) return;
    SideOutcomes& outcomes = ticket->mailbox->outcomes;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++delivered_;
      if (ticket->reduced) ++reduced_;
      note("");
      const std::lock_guard lock(ticket->mailbox->mutex);
      outcomes.acknowledged.push_back(ticket->position);
      outcomes.reduced += ticket->reduced ? 1U : 0U;
      return;
    }
    const std::string why = std::string(rd_kafka_topic_name(message.rkt)) + ": " + rd_kafka_err2str(code);
    note(why);
    ++(is_for_good(code) ? refused_ : failed_);
    const std::lock_guard lock(ticket->mailbox->mutex);
    if (is_for_good(code)) {
      outcomes.refused.push_back({ticket->position, why});
    } else {
      outcomes.failed.push_back(ticket->position);
    }
  }

  // NO_ERROR: the ticket is on its way again.
  rd_kafka_resp_err_t send_again(const rd_kafka_message_t& message, std::unique_ptr<Ticket>& ticket) {
    const auto bytes = [](const void* data, std::size_t size) {
      return data == nullptr ? std::nullopt
                             : std::optional(std::string_view(static_cast<const char*>(data), size));
    };
    RecordHeaders headers;
    rd_kafka_headers_t* found = nullptr;
    if (rd_kafka_message_headers(&message, &found) == RD_KAFKA_RESP_ERR_NO_ERROR)
      headers = copy_headers(found);
    OutgoingRecord record{
        rd_kafka_topic_name(message.rkt),    std::nullopt,         bytes(message.key, message.key_len),
        bytes(message.payload, message.len), ticket->timestamp_ms, &headers};
    return submit_reduced(message.err, record, headers, ticket);
  }

  void note(const std::string& words) {
    if (words.empty() && !has_error_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(error_mutex_);
    last_error_ = words;
    has_error_ = !words.empty();
  }

  const KafkaSideOptions options_;
  const std::unique_ptr<KafkaTopics> topics_;
  mutable std::mutex mutex_;
  std::array<std::unique_ptr<SideProducer>, kLanes> producers_;
  bool closing_ = false;
  mutable std::mutex error_mutex_;
  std::string last_error_;
  std::atomic<bool> has_error_{false};
  std::atomic<std::uint64_t> delivered_{0}, failed_{0}, reduced_{0}, refused_{0};
};

class SideTopicsOfWorker final : public SideOutput {
 public:
  explicit SideTopicsOfWorker(SideTopics& outputs)
      : outputs_(outputs), mailbox_(std::make_shared<Mailbox>()) {}

  Result<void> send(const SideRecord& record) override { return outputs_.send(record, mailbox_); }

  void take_outcomes(SideOutcomes& outcomes) override {
    SideOutcomes mine;
    {
      const std::lock_guard lock(mailbox_->mutex);
      std::swap(mine, mailbox_->outcomes);
    }
    std::ranges::move(mine.acknowledged, std::back_inserter(outcomes.acknowledged));
    std::ranges::move(mine.failed, std::back_inserter(outcomes.failed));
    std::ranges::move(mine.refused, std::back_inserter(outcomes.refused));
    outcomes.reduced += mine.reduced;
  }

 private:
  SideTopics& outputs_;
  std::shared_ptr<Mailbox> mailbox_;
};

std::unique_ptr<SideOutput> SideTopics::open(PartitionId) {
  return std::make_unique<SideTopicsOfWorker>(*this);
}

}  // namespace
}  // namespace kafka

Result<std::unique_ptr<KafkaSideOutputs>> KafkaSideOutputs::create(const KafkaSideOptions& options) {
  auto topics = KafkaTopics::create(options.client);
  if (!topics) return topics.error();
  auto outputs = std::make_unique<kafka::SideTopics>(options, std::move(*topics));
  if (auto connected = outputs->connect(); !connected) return connected.error();
  return std::unique_ptr<KafkaSideOutputs>(std::move(outputs));
}

}  // namespace hourfold
