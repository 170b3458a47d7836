// Who owns what, and from where it reads.
#include <algorithm>
#include <chrono>

#include "core/check.h"
#include "kafka/group_member.h"

namespace hourfold::kafka {
namespace {

// A seek asks librdkafka's own thread, not a broker.
constexpr int kSeekTimeoutMs = 1'000;
// Starting a partition takes librdkafka milliseconds, unless it waits for commits that are on their way.
constexpr std::chrono::milliseconds kSettleTime{1'000};

// Before 2.1 librdkafka takes the timeout of a seek for microseconds (its issue 4230).
int seek_timeout() { return rd_kafka_version() < 0x02010000 ? kSeekTimeoutMs * 1'000 : kSeekTimeoutMs; }

}  // namespace

ReadPosition& GroupMember::position_of(PartitionId partition) {
  HF_CHECK(partition.value >= 0);
  const auto index = static_cast<std::size_t>(partition.value);
  if (index >= partitions_.size()) partitions_.resize(index + 1);
  return partitions_[index];
}

std::vector<PartitionId> GroupMember::owned() const {
  std::vector<PartitionId> ids;
  for (std::size_t i = 0; i < partitions_.size(); ++i)
    if (partitions_[i].owned) ids.push_back({static_cast<std::int32_t>(i)});
  return ids;
}

void GroupMember::note_rebalance(rd_kafka_resp_err_t code,
                                 const rd_kafka_topic_partition_list_t* partitions) {
  Rebalance rebalance{code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS, {}};
  for (int i = 0; partitions != nullptr && i < partitions->cnt; ++i)
    rebalance.partitions.push_back({partitions->elems[i].partition});
  rebalances_.push_back(std::move(rebalance));
  rebalance_count_.fetch_add(1, std::memory_order_relaxed);
}

// Served after the call into librdkafka that brought them has returned, not inside it: then all messages of
// that call are known to belong to the ownership before.
void GroupMember::serve_rebalances() {
  for (std::size_t i = 0; i < rebalances_.size(); ++i) {
    const Rebalance rebalance = rebalances_[i];
    if (!rebalance.assign) {
      revoked();
      rd_kafka_assign(client_.get(), nullptr);
    } else {
      assigned(rebalance.partitions);
    }
  }
  rebalances_.clear();
}

void GroupMember::assigned(const std::vector<PartitionId>& partitions) {
  revoked();  // eager: an assignment is always the whole one
  for (const auto partition : partitions) {
    position_of(partition) = {};
    position_of(partition).owned = true;
  }
  in_on_assigned_ = true;
  if (!partitions.empty()) listener_->on_assigned(partitions);
  in_on_assigned_ = false;
  apply_assignment();
}

void GroupMember::revoked() {
  const auto partitions = owned();
  if (!partitions.empty()) listener_->on_revoked(partitions, rd_kafka_assignment_lost(client_.get()) != 0);
  for (auto& state : partitions_) state.owned = false;
  commits_->forget();
  reassign_ = false;
}

void GroupMember::apply_assignment() {
  reassign_ = false;
  unsettled_since_.reset();
  const TopicList list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions_.size())));
  std::vector<PartitionId> still, moving;
  for (const auto partition : owned()) {
    auto& state = position_of(partition);
    state.unsettle();
    // An offset even for a partition that does not read. Librdkafka would look "end" up, and an answer that
    // was overtaken by a seek makes it ask again and then move the partition to the end of the log
    // (rd_kafka_toppar_handle_Offset(), 2.0.2 as well as 2.15).
    rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), partition.value)->offset = state.next.value;
    (state.reads() ? moving : still).push_back(partition);
  }
  // Known before the assignment starts to fetch; pauses outlast it.
  pause_in_client(still, true);
  pause_in_client(moving, false);
  if (const auto code = rd_kafka_assign(client_.get(), list.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    note_error(code, "assign() failed");
}

void GroupMember::pause_in_client(const std::vector<PartitionId>& partitions, bool paused) {
  if (partitions.empty()) return;
  const TopicList list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const auto partition : partitions)
    rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), partition.value);
  if (paused)
    rd_kafka_pause_partitions(client_.get(), list.get());
  else
    rd_kafka_resume_partitions(client_.get(), list.get());
}

Result<void> GroupMember::start_reading(PartitionId partition, Offset from) {
  HF_CHECK(from.value >= 0);
  auto& state = position_of(partition);
  if (!state.owned) return unavailable("kafka: " + name_of(partition) + " is not ours to read");
  state.reading = true;
  state.next = from;
  if (!state.held) move(partition);
  return {};
}

void GroupMember::pause(PartitionId partition) {
  auto& state = position_of(partition);
  if (!state.owned || state.held) return;
  state.held = true;
  if (state.reading) move(partition);
}

void GroupMember::resume(PartitionId partition) {
  auto& state = position_of(partition);
  if (!state.owned || !state.held) return;
  state.held = false;
  if (state.reading) move(partition);
}

void GroupMember::move(PartitionId partition) {
  position_of(partition).unsettle();
  if (!in_on_assigned_ && !reassign_) settle(partition);
}

// A seek succeeds only once the partition's fetcher runs, and only then is a pause or resume sure to be
// heeded: librdkafka numbers what is asked of a partition, from any thread, and drops without a word what
// arrives after a higher number.
bool GroupMember::settle(PartitionId partition) {
  auto& state = position_of(partition);
  const auto list = make_list(topic_, partition, state.next.value);
  const KafkaError failed(rd_kafka_seek_partitions(client_.get(), list.get(), seek_timeout()));
  if (failed != nullptr || list->elems[0].err != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
  pause_in_client({partition}, !state.reads());
  state.settle();
  return true;
}

bool GroupMember::settle_all() {
  bool all = true;
  for (const auto partition : owned())
    if (!position_of(partition).settled() && !settle(partition)) all = false;
  const auto now = std::chrono::steady_clock::now();
  if (all)
    unsettled_since_.reset();
  else if (!unsettled_since_)
    unsettled_since_ = now;
  else if (now - *unsettled_since_ > kSettleTime)
    reassign_ = true;
  return all;
}

}  // namespace hourfold::kafka
