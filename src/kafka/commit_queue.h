// Offset commits of a group member, each with its metadata, asynchronous with at most one in flight per
// partition, or waited for.
//
// Threads: the source's one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kafka/client.h"
#include "ports/record_source.h"

namespace hourfold::kafka {

class CommitQueue {
 public:
  CommitQueue(Client client, std::string topic);

  // The outcome comes with take_results(). No other commit of the partition is in flight (checked).
  Result<void> send(PartitionId partition, const CommittedOffset& offset);
  // Waits for one in flight first, so that the order of the calls is the order in the group.
  Result<void> send_and_wait(PartitionId partition, const CommittedOffset& offset, int timeout_ms);
  void take_results(std::vector<CommitResult>& out);
  // The partitions stopped being ours: what is in flight is nobody's business any more.
  void forget();

 private:
  Result<std::uint64_t> dispatch(PartitionId partition, const CommittedOffset& offset);
  // Serves answers until that one has come or time is up; others are kept for take_results().
  std::optional<Result<void>> wait_for(std::uint64_t id, std::int64_t deadline_ms);
  // Empty: nothing came in time. Answers that were forgotten are skipped over by the callers.
  std::optional<std::pair<std::uint64_t, Result<void>>> next_answer(int timeout_ms);
  bool settle(std::uint64_t id, const Result<void>& outcome);

  Client client_;
  std::string topic_;
  Queue answers_;
  std::uint64_t last_id_ = 0;
  std::map<PartitionId, std::uint64_t> in_flight_;
  std::vector<CommitResult> results_;
};

}  // namespace hourfold::kafka
