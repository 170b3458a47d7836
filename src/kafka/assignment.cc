// Who owns what, and from where it reads.
#include <algorithm>

#include "core/check.h"
#include "kafka/group_member.h"

namespace hourfold::kafka {
namespace {

constexpr int kSeekTimeoutMs = 5'000;

}  // namespace

GroupMember::Ownership& GroupMember::ownership(PartitionId partition) {
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
    auto& state = ownership(partition);
    state.owned = true;
    state.reading = state.held = false;
  }
  in_on_assigned_ = true;
  if (!partitions.empty()) listener_->on_assigned(partitions);
  in_on_assigned_ = false;
  apply_assignment();
}

void GroupMember::revoked() {
  const auto partitions = owned();
  if (!partitions.empty()) listener_->on_revoked(partitions, rd_kafka_assignment_lost(client_.get()) != 0);
  for (auto& state : partitions_) state.owned = state.reading = state.held = false;
  commits_->forget();
  reassign_ = false;
}

void GroupMember::apply_assignment() {
  reassign_ = false;
  const TopicList list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions_.size())));
  std::vector<PartitionId> still, moving;
  for (const auto partition : owned()) {
    const auto& state = ownership(partition);
    const bool reads = state.reading && !state.held;
    // "End" is looked up but, paused, never fetched from; an offset would be fetched before the pause is
    // known, and may be out of range.
    rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), partition.value)->offset =
        reads ? state.next.value : RD_KAFKA_OFFSET_END;
    (reads ? moving : still).push_back(partition);
  }
  if (const auto code = rd_kafka_assign(client_.get(), list.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    note_error(code, "assign() failed");
    return;
  }
  pause_in_client(still, true);
  pause_in_client(moving, false);
}

void GroupMember::pause_in_client(const std::vector<PartitionId>& partitions, bool paused) {
  if (partitions.empty()) return;
  const TopicList list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const auto partition : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), partition.value);
    ownership(partition).client_paused = paused;
  }
  if (paused)
    rd_kafka_pause_partitions(client_.get(), list.get());
  else
    rd_kafka_resume_partitions(client_.get(), list.get());
}

Result<void> GroupMember::start_reading(PartitionId partition, Offset from) {
  HF_CHECK(from.value >= 0);
  auto& state = ownership(partition);
  if (!state.owned) return unavailable("kafka: " + name_of(partition) + " is not ours to read");
  state.reading = true;
  state.next = from;
  if (!in_on_assigned_ && !state.held) move(partition);
  return {};
}

void GroupMember::pause(PartitionId partition) {
  auto& state = ownership(partition);
  if (!state.owned || state.held) return;
  state.held = true;
  if (!in_on_assigned_ && !state.client_paused) pause_in_client({partition}, true);
}

void GroupMember::resume(PartitionId partition) {
  auto& state = ownership(partition);
  if (!state.owned || !state.held) return;
  state.held = false;
  if (!in_on_assigned_ && state.reading) move(partition);
}

// A seek works while the partition's fetcher runs. After an out-of-range, and while an assignment is still
// being put into effect, it does not; then the whole assignment is told again at the next poll().
void GroupMember::move(PartitionId partition) {
  const auto list = make_list(topic_, partition, ownership(partition).next.value);
  const KafkaError failed(rd_kafka_seek_partitions(client_.get(), list.get(), kSeekTimeoutMs));
  if (failed != nullptr || list->elems[0].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    reassign_ = true;
    return;
  }
  if (ownership(partition).client_paused) pause_in_client({partition}, false);
}

}  // namespace hourfold::kafka
