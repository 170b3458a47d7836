// One host's hold on the partition: its worker with its ends of the table, the side topics and the store. It
// may be the owner, or a stale one that does not know yet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/partition_worker.h"
#include "sim/sim_group.h"
#include "sim/sim_log.h"
#include "sim/sim_net.h"
#include "sim/sim_side.h"
#include "state/memory_store.h"

namespace hourfold::test {

inline constexpr PartitionId kSimPartition{3};  // the first one

struct SimHost {
  MemoryStores stores;
  // What its process knows: none has started if it knows of no partition.
  std::size_t known_partitions = 0;
  bool shares_rows = false;
  std::map<PartitionId, std::vector<std::shared_ptr<const MemoryStores::Snapshot>>> snapshots;
};

// What there is of one partition of the topic.
struct SimPartition {
  SimPartition(PartitionId number, Random& random, const SimLogOptions& options, SimFindings& findings)
      : id(number), log(random, options), group(findings) {}

  PartitionId id;
  SimLog log;
  SimGroup group;
  SimSideTopics topics;
  Offset safe_up_to;
  HourStart highest_hour = HourStart::lowest();  // of all accepted readings before that
};

struct SimCommit {
  CommittedOffset offset;
  bool in_flight = false;
};

class SimWorker {
 public:
  int id = 0;
  std::size_t host = 0;
  SimPartition* partition = nullptr;
  int epoch = 0;
  std::unique_ptr<WindowStore> store;
  std::unique_ptr<SimSinkQueue> sink;
  std::unique_ptr<SimSideOutput> side;
  std::unique_ptr<PartitionWorker> worker;  // last: it uses the others
  SimCommit commit;
  std::uint64_t restored = 0;  // pending windows at its start
  struct Question {            // how many there are
    std::uint64_t acknowledgements;
    std::size_t answer;  // as the broker knew it when it was asked
  };
  std::optional<Question> asked;

  bool owns() const { return epoch == partition->group.epoch(); }

  // Reads up to `records` records. False: there was nothing to read, or the worker is full.
  Result<bool> poll(std::size_t records, EpochMs now) {
    const SimLog& log = partition->log;
    if (worker->full() || worker->next_offset() >= log.end()) return false;
    RecordBatch batch;
    batch.partition = partition->id;
    Offset at = worker->next_offset();
    for (; at < log.end() && batch.records.size() < records; at = at.next()) {
      const SimRecord& from = log.at(at);
      if (from.marker) continue;
      Record record;
      record.offset = at;
      record.timestamp_ms = from.timestamp_ms;
      record.key = from.key;
      if (from.value) record.value = *from.value;
      batch.records.push_back(record);
    }
    if (at == log.end()) batch.read_to = at;
    if (auto folded = worker->fold(batch, now); !folded) return folded.error();
    return true;
  }

  // Empty if the books balance.
  std::string books() const {
    const WorkerCounters& c = worker->counters();
    const std::uint64_t sum = c.folded.get() + c.duplicate.get() + c.quarantined.get() + c.archived.get() +
                              c.malformed.get() + c.already_counted.get() + c.waiting.get();
    if (sum == c.consumed.get()) return {};
    return std::to_string(sum) + " accounted for of " + std::to_string(c.consumed.get()) + " consumed";
  }
};

}  // namespace hourfold::test
