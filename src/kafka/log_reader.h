// Ranges of a topic's partitions, read once from one end to the other, beside whatever service reads the
// topic: no group is joined and nothing is committed. For `verify`, and for what `rebuild` must know before
// it begins.
//
// Threads: one thread calls everything.
// Batches: as those of KafkaSource (kafka_source.h).
// Errors:  Unavailable (a broker that does not answer), Fatal (authorisation; the log lost what was to be
//          read next).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kafka/kafka_source.h"

namespace hourfold {

class LogReader {
 public:
  // The group is only asked for its offsets. Does not connect.
  static Result<std::unique_ptr<LogReader>> create(const KafkaSourceOptions& options);
  virtual ~LogReader() = default;

  virtual Result<std::int32_t> partition_count() = 0;
  virtual Result<LogBounds> bounds(PartitionId partition) = 0;
  virtual Result<std::optional<CommittedOffset>> committed(PartitionId partition) = 0;
  // The first offset whose record has this Kafka timestamp or a later one: all records before it have earlier
  // ones. Empty: there is none.
  virtual Result<std::optional<Offset>> offset_at(PartitionId partition, EpochMs time) = 0;

  // Begins to read [first, end) of each partition. Once: what librdkafka has fetched for another position
  // could not be told from what is wanted.
  virtual Result<void> start(const std::map<PartitionId, LogBounds>& ranges) = 0;
  // Waits at most timeout_ms for records.
  virtual Result<void> poll(int timeout_ms, std::vector<RecordBatch>& out) = 0;
  // No more of this partition is needed.
  virtual void finish(PartitionId partition) = 0;
  // Everything of all ranges was given out.
  virtual bool done() const = 0;
  // The latest trouble that poll() rides out; empty once records come again.
  virtual std::string last_error() const = 0;
};

}  // namespace hourfold
