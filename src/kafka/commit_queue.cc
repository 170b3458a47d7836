#include "kafka/commit_queue.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "core/check.h"

namespace hourfold::kafka {
namespace {

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// An id travels through librdkafka as the opaque pointer of its commit.
void* to_opaque(std::uint64_t id) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(id)); }
std::uint64_t to_id(void* opaque) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(opaque));
}

void set_metadata(rd_kafka_topic_partition_t& entry, const std::string& metadata) {
  entry.metadata = std::malloc(metadata.size());  // the list frees it
  HF_CHECK(entry.metadata != nullptr);
  std::memcpy(entry.metadata, metadata.data(), metadata.size());
  entry.metadata_size = metadata.size();
}

}  // namespace

CommitQueue::CommitQueue(Client client, std::string topic)
    : client_(std::move(client)), topic_(std::move(topic)), answers_(rd_kafka_queue_new(client_.get())) {}

Result<std::uint64_t> CommitQueue::dispatch(PartitionId partition, const CommittedOffset& offset) {
  const auto list = make_list(topic_, partition, offset.next.value);
  if (!offset.metadata.empty()) set_metadata(list->elems[0], offset.metadata);
  const auto id = ++last_id_;
  const auto code = rd_kafka_commit_queue(client_.get(), list.get(), answers_.get(), nullptr, to_opaque(id));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return to_error(code, "kafka: commit of " + topic_ + "/" + std::to_string(partition.value));
  return id;
}

Result<void> CommitQueue::send(PartitionId partition, const CommittedOffset& offset) {
  HF_CHECK(!in_flight_.contains(partition));
  const auto id = dispatch(partition, offset);
  if (!id) return id.error();
  in_flight_[partition] = *id;
  return {};
}

Result<void> CommitQueue::send_and_wait(PartitionId partition, const CommittedOffset& offset,
                                        int timeout_ms) {
  const auto what = "kafka: commit of " + topic_ + "/" + std::to_string(partition.value);
  const auto deadline = steady_ms() + timeout_ms;
  if (const auto before = in_flight_.find(partition); before != in_flight_.end())
    if (!wait_for(before->second, deadline))
      return unavailable(what + ": an earlier one is still without an answer");
  const auto id = dispatch(partition, offset);
  if (!id) return id.error();
  auto outcome = wait_for(*id, deadline);
  if (!outcome) return unknown(what + ": no answer after " + std::to_string(timeout_ms) + " ms");
  return *outcome;
}

std::optional<Result<void>> CommitQueue::wait_for(std::uint64_t id, std::int64_t deadline_ms) {
  for (;;) {
    const auto left = std::max<std::int64_t>(0, deadline_ms - steady_ms());
    auto answer = next_answer(static_cast<int>(left));
    if (!answer) return std::nullopt;
    settle(answer->first, answer->second);
    if (answer->first == id) return answer->second;
  }
}

std::optional<std::pair<std::uint64_t, Result<void>>> CommitQueue::next_answer(int timeout_ms) {
  const Event event(rd_kafka_queue_poll(answers_.get(), timeout_ms));
  if (event == nullptr || rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_OFFSET_COMMIT)
    return std::nullopt;
  auto code = rd_kafka_event_error(event.get());
  const auto* list = rd_kafka_event_topic_partition_list(event.get());
  std::string what = "kafka: commit of " + topic_;
  if (list != nullptr && list->cnt == 1) {
    what += "/" + std::to_string(list->elems[0].partition) + " at " + std::to_string(list->elems[0].offset);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) code = list->elems[0].err;
  }
  return std::pair(to_id(rd_kafka_event_opaque(event.get())),
                   code == RD_KAFKA_RESP_ERR_NO_ERROR ? Result<void>() : Result<void>(to_error(code, what)));
}

bool CommitQueue::settle(std::uint64_t id, const Result<void>& outcome) {
  const auto found = std::ranges::find(in_flight_, id, [](const auto& entry) { return entry.second; });
  if (found == in_flight_.end()) return false;
  results_.push_back({found->first, outcome});
  in_flight_.erase(found);
  return true;
}

void CommitQueue::take_results(std::vector<CommitResult>& out) {
  while (!in_flight_.empty()) {
    const auto answer = next_answer(0);
    if (!answer) break;
    settle(answer->first, answer->second);
  }
  std::ranges::move(results_, std::back_inserter(out));
  results_.clear();
}

void CommitQueue::forget() {
  in_flight_.clear();
  results_.clear();
}

}  // namespace hourfold::kafka
