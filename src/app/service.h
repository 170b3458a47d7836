// The service: partitions come from the group, readings from the log, rollups go to the table. Joins the
// adapters and the pipeline, and owns the threads: the caller's polls Kafka (and alone pauses, resumes and
// commits), some fold, some talk to the table, one watches.
//
// Threads: start(), run() and finish() on one thread; stop() and the observers from any.
// Errors:  Fatal with what to do. A table or a broker that goes away later is waited for, for ever.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/partition_counter.h"
#include "app/retired_counters.h"
#include "app/sink_threads.h"
#include "app/table_facts.h"
#include "app/worker_threads.h"
#include "core/config.h"
#include "payload/avro_schemas.h"
#include "ports/clock.h"
#include "ports/record_source.h"
#include "ports/rollup_table.h"
#include "ports/side_output.h"
#include "state/window_store.h"

namespace hourfold {

// What makes a rebuild of a service (docs/ARCHITECTURE.md, "Rebuild").
struct RebuildPlan {
  Generation generation;  // of the cells that it writes
  bool follow = false;    // go on as the live service; else end where the log ended at the start
  bool several = false;   // the table that it copies has rows with several contributions
  std::map<PartitionId, RebuildStart> starts;  // of every partition, for those that begin now
};

class Service;

struct ServiceParts {
  Config config;
  TableSpec table_spec;
  std::unique_ptr<RecordSource> source;
  std::unique_ptr<RollupTable> table;
  std::unique_ptr<SideOutputs> side;
  std::unique_ptr<WindowStores> stores;
  std::unique_ptr<AvroSchemas> schemas;  // null where the readings need none
  const Clock* clock = nullptr;
  SinkThreads::OnPut on_put = [](double, bool) {};
  std::optional<RebuildPlan> rebuild;
  // After each poll, on the thread of run().
  std::function<void(const Service&)> on_turn = [](const Service&) {};
  // Lines for the operator: 'd' debugging, 'i' information, 'w' warning, 'e' error.
  std::function<void(char level, const std::string&)> log = [](char, const std::string&) {};
};

class Service : private RecordSource::Listener {
 public:
  explicit Service(ServiceParts parts);
  ~Service() override;

  // Waits at most the configured startup timeout for broker, topic, side topics and table.
  Result<void> start();
  // Polls until stop(), a Fatal error, or the end of a rebuild that has one.
  Result<void> run();
  // Writes what is pending, checkpoints, commits, leaves the group; bounded by the timeout. False: a call to
  // the table still hangs, and the process should end without destroying the service.
  bool finish(std::chrono::milliseconds timeout);
  // Everything up to the end that the log had at its start is in the table; with `follow`, its generation is
  // raised as well.
  bool rebuild_done() const { return rebuild_done_.load(); }
  void stop() { stopping_.store(true, std::memory_order_relaxed); }

  struct PartitionStatus {
    PartitionId partition;
    std::int64_t next_offset = 0;
    std::optional<std::int64_t> end_offset;
    std::int64_t needed_from = 0;
    bool paused = false;
    std::optional<std::int64_t> rebuild_end;  // of a rebuild: nothing is written before it is reached
    std::string trouble;                      // of its table or side output, ridden out
    std::chrono::milliseconds trouble_for{0};
  };
  struct Status {
    bool joined = false;               // the group has answered
    std::vector<PartitionId> waiting;  // ours, but not open yet
    std::string waiting_for;
    std::vector<PartitionStatus> partitions;
    std::string trouble;  // of the last check of the table
    std::chrono::milliseconds since_poll{0};
  };
  Status status() const;
  // Of all partitions ever held by this process, those of today included.
  CounterTotals totals() const;
  std::map<std::int32_t, CounterTotals> totals_by_partition() const;
  std::size_t sink_queue() const { return sink_->queued(); }
  std::optional<AvroSchemas::Fetches> schema_fetches() const {
    return parts_.schemas ? parts_.schemas->fetches() : std::nullopt;
  }

 private:
  struct Held {
    std::shared_ptr<PartitionTask> task;
    WorkerThread* thread = nullptr;
    bool paused = false;
    bool committing = false;
    Offset in_flight;  // offset of the commit on its way
    std::optional<Offset> end;
    std::optional<Offset> rebuild_end;
  };

  void on_assigned(const std::vector<PartitionId>& partitions) override;
  void on_revoked(const std::vector<PartitionId>& partitions, bool lost) override;
  void on_out_of_range(PartitionId partition) override;

  Result<void> check_table();
  Result<void> note_topic();

  // Unavailable: not now, try again.
  Result<void> open(PartitionId partition);
  Result<StartPlan> plan(PartitionId partition, WindowStore& store);
  void open_waiting();
  void close(PartitionId partition, bool lost);

  void hand_out(std::vector<RecordBatch>& batches);
  void steer();
  void settle_doubts();
  void commit_due();
  void tell_troubles();
  void log_alarms(PartitionId partition, PartitionTask& task);
  Result<void> look_for_failures();
  void watch();

  // Growth of the topic (service_growth.cc).
  Result<void> watch_partitions();
  Result<void> counted(std::int32_t partitions);
  void ask_partitions();
  void prove_now();
  void say_grown(std::int32_t before, std::int32_t now) const;
  void note_growth();
  void tell_of_sharing();
  bool growth_noted();
  void note_wanted();  // on the watching thread
  SharedRowRules shared_rows();
  bool rebuilding() const { return parts_.rebuild && !rebuild_done_; }

  void advance_rebuild();
  bool settled() const;
  bool own_written() const;
  Result<bool> everything_written();
  void take_over();
  void raise();

  ServiceParts parts_;
  std::unique_ptr<SinkThreads> sink_;
  std::vector<std::unique_ptr<WorkerThread>> threads_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> last_poll_ms_;

  std::int32_t partition_count_ = 0;
  std::atomic<std::int32_t> generation_{0};
  std::atomic<bool> shared_{false};  // rows may have several contributions, and the table says so
  std::unique_ptr<PartitionCounter> counter_;
  // Acknowledgements of the partitions when their number was asked for.
  std::map<PartitionId, std::pair<std::shared_ptr<PartitionTask>, std::uint64_t>> asked_;
  std::int32_t told_count_ = 0;  // that the workers heard of, sharing rows
  std::optional<Error> fatal_;
  // All of the steady clock.
  std::int64_t next_open_ms_ = 0;
  std::int64_t next_commit_ms_ = 0;
  std::int64_t next_count_ms_ = 0;
  std::int64_t next_end_ms_ = 0;
  std::int64_t next_doubt_ms_ = 0;
  std::int64_t next_tell_ms_ = 0;
  std::int64_t next_advance_ms_ = 0;
  bool taking_over_ = false;  // nothing is held back any more
  std::atomic<bool> rebuild_done_{false};
  std::map<std::string, std::string> told_;  // last trouble logged, by what has it

  mutable std::mutex mutex_;  // guards what the observers see
  std::map<PartitionId, Held> held_;
  std::map<PartitionId, std::string> waiting_;  // why not open yet
  std::map<std::int32_t, CounterTotals> retired_;
  bool joined_ = false;
  std::string table_trouble_;

  std::mutex watch_mutex_;
  std::condition_variable watch_changed_;
  bool watch_stop_ = false;
  bool raise_wanted_ = false;
  HourStart raise_from_;  // hours from here on are replaced by the rebuild
  bool note_fresh_ = false;
  std::optional<std::int32_t> note_;  // number of partitions that the table has to hear of
  TableFacts facts_;
  std::optional<Error> watch_fatal_;
  std::thread watcher_;
};

}  // namespace hourfold
