// The threads that fold. Each owns some partitions, shared-nothing; a partition stays on its thread from
// open() to close().
//
// PartitionTask is what the polling thread and the folding thread share of one partition: an inbox of
// batches, and what each tells the other. Bounded: the polling thread pauses a partition whose inbox is over
// its bound or whose worker is full.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/retired_counters.h"
#include "core/result.h"
#include "payload/avro_schemas.h"
#include "pipeline/partition_worker.h"
#include "ports/clock.h"
#include "ports/record_source.h"
#include "ports/side_output.h"
#include "state/window_store.h"

namespace hourfold {

class WorkerThread;

class PartitionTask {
 public:
  struct Parts {
    PartitionId partition;
    std::unique_ptr<WindowStore> store;
    std::unique_ptr<SinkQueue> sink;
    std::unique_ptr<SideOutput> side;
    std::unique_ptr<PartitionWorker> worker;  // refers to the three above
    AvroSchemas* schemas = nullptr;           // the worker's; a batch waits until they are known
  };
  explicit PartitionTask(Parts parts);

  // --- the polling thread
  PartitionId partition() const { return parts_.partition; }
  void push(RecordBatch batch);
  std::size_t queued_bytes() const { return queued_bytes_.load(std::memory_order_relaxed); }
  bool full() const { return full_.load(std::memory_order_relaxed); }
  bool drained() const { return drained_.load(std::memory_order_acquire); }
  // Of a rebuild, see PartitionWorker.
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  void release_all() { release_all_.store(true, std::memory_order_relaxed); }
  // Growth of the topic, see PartitionWorker. acknowledgements(): as of some moment ago.
  std::uint64_t acknowledgements() const { return acknowledgements_.load(std::memory_order_acquire); }
  void prove(std::uint64_t acknowledgements) { proven_.store(acknowledgements, std::memory_order_release); }
  void share(const SharedRowRules& rules, std::int32_t partition_count);
  // Fold nothing more, write what is pending at once.
  void drain() { draining_.store(true, std::memory_order_relaxed); }
  std::optional<CommittedOffset> take_commit();
  void committed(Offset offset);
  std::optional<Error> failure() const;
  struct Trouble {
    std::string what;           // empty: none
    std::int64_t since_ms = 0;  // by the steady clock; the words may have changed since
  };
  Trouble trouble() const;
  // Of the worker, the first of them; how many more there were is said at the end.
  std::vector<std::string> take_alarms();
  // As PartitionWorker's; the answer is taken to it.
  std::optional<Offset> doubted() const;
  void log_ends_at(Offset end, Offset doubted);
  const WorkerCounters& counters() const { return parts_.worker->counters(); }
  // The counters as they were between two batches, where they add up. Any thread.
  CounterTotals totals() const;
  // Longest time that folding stood still for a checkpoint.
  std::uint64_t longest_checkpoint_us() const {
    return longest_checkpoint_us_.load(std::memory_order_relaxed);
  }

 private:
  friend class WorkerThread;

  // --- the folding thread
  bool turn(const Clock& clock);
  void hear_of_growth(EpochMs now);
  bool next_can_be_read();
  Result<void> fold_some(EpochMs now, bool& worked);
  Result<void> step(EpochMs now);
  Result<void> tell(std::int64_t steady_ms);
  void fail(const Error& error);
  void note_alarms();     // under the lock
  void publish_totals();  // under the lock
  // Checkpoint to disk; what may still be committed.
  std::optional<CommittedOffset> finish(EpochMs now);

  Parts parts_;
  std::int64_t next_tell_ms_ = 0;
  std::optional<std::vector<std::int32_t>> next_ids_;  // schemas of the next batch, once it was looked at
  std::string schema_trouble_;                         // why it has to wait

  std::atomic<std::size_t> queued_bytes_{0};
  std::atomic<std::uint64_t> longest_checkpoint_us_{0};
  std::atomic<bool> full_{false};
  std::atomic<bool> drained_{false};
  std::atomic<bool> draining_{false};
  std::atomic<bool> settled_{false};
  std::atomic<bool> release_all_{false};
  std::atomic<std::uint64_t> acknowledgements_{0};
  std::atomic<std::uint64_t> proven_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::deque<RecordBatch> inbox_;
  std::optional<CommittedOffset> commit_;
  std::optional<Offset> committed_;
  std::optional<Error> failure_;
  CounterTotals totals_;
  Trouble trouble_;
  std::vector<std::string> alarms_;
  std::size_t more_alarms_ = 0;
  std::optional<Offset> doubted_;
  struct LogEnd {
    Offset end;
    Offset doubted;
  };
  std::optional<LogEnd> log_end_;
  struct Sharing {
    SharedRowRules rules;
    std::int32_t partition_count;
  };
  std::optional<Sharing> sharing_;
};

class WorkerThread {
 public:
  WorkerThread(const Clock& clock, unsigned number);
  ~WorkerThread();

  void add(std::shared_ptr<PartitionTask> task);
  // Takes the partition off the thread, checkpoints it and releases its store. Waits; what may still be
  // committed, if anything.
  std::optional<CommittedOffset> close(const std::shared_ptr<PartitionTask>& task);
  void wake();
  std::size_t partitions() const;

 private:
  void run();

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<PartitionTask>> tasks_;
  std::shared_ptr<PartitionTask> closing_;
  std::optional<CommittedOffset> closed_commit_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hourfold
