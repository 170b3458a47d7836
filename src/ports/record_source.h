// The log of readings as the product sees it: records of a topic's partitions, a group that hands the
// partitions out, and its offsets.
//
// Invariants: records of one partition arrive in offset order; holes (transaction markers, compaction) are
// normal. Nothing is read from
//             a partition until start_reading(). An offset is committed only as a member of the group.
// Threads:    one thread calls everything; listener callbacks come inside poll() on that thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record.h"
#include "core/result.h"
#include "core/types.h"

namespace hourfold {

struct Record {
  Offset offset;
  EpochMs timestamp_ms = -1;                     // -1: the record has none
  std::optional<std::string_view> key;           // views live as long as the batch
  std::optional<std::string_view> value;         // empty: a tombstone
  std::shared_ptr<const RecordHeaders> headers;  // null: none
};

struct RecordBatch {
  PartitionId partition;
  std::vector<Record> records;  // may be none
  // No record is left below this offset. Told where the log ends in something that is no record: transaction
  // markers, records of aborted transactions, holes of a compaction.
  std::optional<Offset> read_to;
  std::size_t bytes = 0;         // keys, values and bookkeeping, for the bounds of queues
  std::shared_ptr<void> memory;  // what the views point into
};

struct CommittedOffset {
  Offset next;
  std::string metadata;
};

struct LogBounds {
  Offset first;  // lowest offset still in the log
  Offset end;    // one past the last
};

struct CommitResult {
  PartitionId partition;
  Result<void> outcome;
};

class RecordSource {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The partitions are ours and paused; the listener may call committed(), bounds(), commit_now() and
    // start_reading().
    virtual void on_assigned(const std::vector<PartitionId>& partitions) = 0;
    // They stop being ours when this returns. lost: they already are somebody else's, nothing may be
    // committed.
    virtual void on_revoked(const std::vector<PartitionId>& partitions, bool lost) = 0;
    // The log no longer has the offset that was to be read next.
    virtual void on_out_of_range(PartitionId partition) = 0;
  };

  virtual ~RecordSource() = default;

  // Connects, checks that the topic is there and joins the group. Unavailable: no broker or no such topic
  // (yet).
  virtual Result<void> start(Listener* listener) = 0;
  // Waits at most timeout_ms for records, runs callbacks. Fatal: the client cannot go on (fenced,
  // authorisation).
  virtual Result<void> poll(int timeout_ms, std::vector<RecordBatch>& out) = 0;

  virtual Result<std::int32_t> partition_count() = 0;
  virtual Result<std::optional<CommittedOffset>> committed(PartitionId partition) = 0;
  virtual Result<LogBounds> bounds(PartitionId partition) = 0;

  // As last heard from the broker, without asking it: for lag. Empty before the first fetch.
  virtual std::optional<LogBounds> known_bounds(PartitionId partition) const = 0;

  // First call after the assignment: reads from here on. Later calls move the position.
  virtual Result<void> start_reading(PartitionId partition, Offset from) = 0;
  // A paused partition yields nothing; what was already fetched may still come once. Idempotent.
  virtual void pause(PartitionId partition) = 0;
  virtual void resume(PartitionId partition) = 0;

  // The latest trouble that poll() rides out; empty once records come again. Any thread.
  virtual std::string last_error() const = 0;

  // Asynchronous; the outcome comes with take_commit_results(). At most one in flight per partition
  // (checked).
  virtual Result<void> commit(PartitionId partition, const CommittedOffset& offset) = 0;
  virtual void take_commit_results(std::vector<CommitResult>& out) = 0;
  // Waits for the answer. For first starts, revocations and the end.
  virtual Result<void> commit_now(PartitionId partition, const CommittedOffset& offset) = 0;

  // Leaves the group (on_revoked comes first) and closes. Bounded: some seconds.
  virtual void stop() = 0;
};

}  // namespace hourfold
