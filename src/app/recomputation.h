// The hours that a log gives, computed by the service's own workers, which hold everything back: windows
// lie in window stores in a scratch folder, memory stays within state.memory.
//
// Threads: one. Errors: those of the worker (Fatal: the log is not one that the configuration can be for).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "app/null_ports.h"
#include "app/retired_counters.h"
#include "core/config.h"
#include "pipeline/partition_worker.h"
#include "ports/clock.h"

namespace hourfold {

class Recomputation {
 public:
  // Partitions of the ranges, each read from the first offset of its range on. schemas: null, or they outlive
  // it, and know those of a batch before it is folded.
  static Result<std::unique_ptr<Recomputation>> open(const Config& config, const std::string& scratch,
                                                     const std::map<PartitionId, LogBounds>& ranges,
                                                     std::int32_t partition_count, const Clock& clock,
                                                     AvroSchemas* schemas = nullptr);

  Result<void> fold(const RecordBatch& batch);
  // No more is folded: everything is in the stores from now on.
  Result<void> finish();
  CounterTotals totals() const { return totals_; }

  // --- once finished
  // The contribution's bytes; empty if the log gives none.
  Result<std::optional<std::string>> find(PartitionId partition, HourStart hour,
                                          std::string_view device) const;
  // Leaves a window out of each_unseen().
  Result<void> mark_seen(PartitionId partition, HourStart hour, std::string_view device);
  Result<void> each_unseen(
      PartitionId partition,
      const std::function<void(HourStart, std::string_view device, std::string_view value)>& visit);

 private:
  struct Partition {
    std::unique_ptr<WindowStore> store;
    NoSink sink;
    NoSideOutput side;
    std::unique_ptr<PartitionWorker> worker;
    StateChanges seen;  // not written yet
  };
  explicit Recomputation(const Clock& clock) : clock_(clock) {}
  static Result<void> write_seen(Partition& partition);

  const Clock& clock_;
  std::unique_ptr<WindowStores> stores_;
  std::map<PartitionId, Partition> partitions_;
  CounterTotals totals_;
};

}  // namespace hourfold
