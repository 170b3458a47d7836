// KafkaSource on librdkafka. Split over group_member.cc (queries, poll, stop) and assignment.cc (who owns
// what, and from where it reads).
//
// How positions are kept (read_position.h): `next` of a partition is what will be given out next. Librdkafka
// is told it explicitly at every assign and seek, always as an offset, and nothing is given out of a
// partition until librdkafka has acknowledged a seek to `next` (settled). So neither its own bookkeeping over
// pauses nor anything fetched for an earlier position can move a partition, and none is left standing: one
// that cannot be settled for a second is assigned anew.
#pragma once

#include <chrono>
#include <span>

#include "kafka/commit_queue.h"
#include "kafka/kafka_source.h"
#include "kafka/read_position.h"

namespace hourfold::kafka {

class GroupMember final : public KafkaSource {
 public:
  static Result<std::unique_ptr<KafkaSource>> create(const KafkaSourceOptions& options);
  ~GroupMember() override;

  Result<void> start(Listener* listener) override;
  Result<void> poll(int timeout_ms, std::vector<RecordBatch>& out) override;
  Result<std::int32_t> partition_count() override;
  Result<std::optional<CommittedOffset>> committed(PartitionId partition) override;
  Result<LogBounds> bounds(PartitionId partition) override;
  Result<void> start_reading(PartitionId partition, Offset from) override;
  void pause(PartitionId partition) override;
  void resume(PartitionId partition) override;
  Result<void> commit(PartitionId partition, const CommittedOffset& offset) override;
  void take_commit_results(std::vector<CommitResult>& out) override;
  Result<void> commit_now(PartitionId partition, const CommittedOffset& offset) override;
  void stop() override;

  std::string last_error() const override;
  KafkaSourceStats stats() const override;
  std::optional<LogBounds> known_bounds(PartitionId partition) const override;
  Result<TopicSettings> topic_settings() override;

 private:
  struct Rebalance {
    bool assign;
    std::vector<PartitionId> partitions;
  };

  explicit GroupMember(const KafkaSourceOptions& options) : topic_(options.topic), group_(options.group) {}
  Result<void> connect(const KafkaSourceOptions& options);

  // Called by librdkafka inside poll().
  void note_rebalance(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t* partitions);
  void note_error(rd_kafka_resp_err_t code, const char* text);

  std::size_t fetch(int timeout_ms);
  void hand_out(std::span<rd_kafka_message_t* const> messages, bool revoking, std::vector<RecordBatch>& out);
  // A message that is an error. True: the partition ends at its offset, beyond what has been given out.
  bool take_error(const rd_kafka_message_t& message);
  void check_out_of_range(PartitionId partition);
  std::string name_of(PartitionId partition) const { return topic_ + "/" + std::to_string(partition.value); }

  ReadPosition& position_of(PartitionId partition);
  std::vector<PartitionId> owned() const;
  void serve_rebalances();
  void assigned(const std::vector<PartitionId>& partitions);
  void revoked();
  void apply_assignment();
  void pause_in_client(const std::vector<PartitionId>& partitions, bool paused);
  // The partition's `next`, or whether it reads, has changed.
  void move(PartitionId partition);
  bool settle(PartitionId partition);
  bool settle_all();
  void close_group();

  std::string topic_;
  std::string group_;
  Client client_;
  Queue records_;
  std::optional<CommitQueue> commits_;
  Listener* listener_ = nullptr;
  std::vector<rd_kafka_message_t*> fetched_;  // room for one fetch()
  std::vector<ReadPosition> partitions_;
  std::vector<Rebalance> rebalances_;
  std::vector<PartitionId> out_of_range_;
  bool in_on_assigned_ = false;
  bool reassign_ = false;  // a fetcher does not run: tell librdkafka the whole assignment again
  std::optional<std::chrono::steady_clock::time_point> unsettled_since_;  // some partition of ours
  bool stopped_ = false;
  std::optional<Error> fatal_;

  mutable std::mutex error_mutex_;
  std::string last_error_;
  std::atomic<bool> has_error_{false};
  std::atomic<std::uint64_t> record_count_{0}, byte_count_{0}, stale_count_{0}, error_count_{0},
      rebalance_count_{0};
};

}  // namespace hourfold::kafka
