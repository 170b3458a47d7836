// One partition's readings on their way from the log to the table: parse, classify, look up, fold, emit, and
// the offset that may be committed. Driven by fold() and step(now); it has no threads and no clock, so a test
// can play any history with it.
//
// Invariants: readings are applied in position order. needed_from() never goes below what was committed, and
// every reading before it is in an acknowledged
//             Put or in an acknowledged side record. Everything that changes together is written to the store
//             in one step.
// Threads:    one thread calls everything; counters() may be read by any.
// Ownership:  the store, the queue and the output are the caller's and outlive the worker.
// Errors:     Fatal: the partition must stop, the message says why. Retryable ones are dealt with inside.
// Source:     docs/ARCHITECTURE.md, "The walk of one reading" and "Recovery".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/state_codec.h"
#include "core/window.h"
#include "payload/payload_parser.h"
#include "pipeline/counters.h"
#include "pipeline/emission_gate.h"
#include "pipeline/emitter.h"
#include "pipeline/log_identity.h"
#include "pipeline/outbox.h"
#include "pipeline/side_tracker.h"
#include "pipeline/sink_queue.h"
#include "pipeline/start_plan.h"
#include "pipeline/timeline.h"
#include "pipeline/unproven_acks.h"
#include "pipeline/waiting_room.h"
#include "pipeline/window_table.h"
#include "ports/record_source.h"
#include "ports/side_output.h"
#include "state/window_store.h"

namespace hourfold {

struct WorkerSettings {
  std::string topic;
  PartitionId partition;
  ReadingShape shape;
  AvroSchemas* schemas = nullptr;  // where the shape needs some; outlives the worker
  bool deduplicate = true;
  std::size_t max_metrics = kMaxMetricsPerWindow;  // of a window
  bool check_keys = false;                         // the record key must be the device
  ArrivalPolicy policy;
  EmitPolicy emit;
  RowLayout layout = RowLayout::kWide;
  std::uint32_t buckets = 32;
  std::int64_t checkpoint_ms = 60'000;
  std::int64_t retention_ms = 48 * kHourMs;
  // Past any of these the partition is paused (pipeline/memory_shares.h).
  std::size_t memory_bytes = 256 << 20;  // for windows
  std::size_t max_outbox = 2'000'000;    // windows
  std::size_t max_waiting_bytes = 64 << 20;
  std::size_t max_side_bytes = 32 << 20;
  std::size_t max_refused = 10'000;  // windows that the table refused, kept for their next change
  // Rows may have several contributions, of other partitions too.
  std::optional<SharedRowRules> shared;
  // Else: whether the topic can grow while the worker runs. Then its acknowledgements count once prove() says
  // so.
  bool may_grow = false;
  // Of a rebuild: the end that the log had at its start is the end of the work, and then all is written.
  bool ends_with_rebuild = false;
};

class PartitionWorker {
 public:
  // now, here and below: by the wall clock, which may be set back or forth between two calls.
  // Takes up what the store holds (empty unless the plan keeps it).
  static Result<std::unique_ptr<PartitionWorker>> open(WorkerSettings settings, StartPlan plan,
                                                       WindowStore& store, SinkQueue& sink, SideOutput& side,
                                                       EpochMs now);

  // Applies records in order; those below next_offset() are dropped. next_offset() is then past the last of
  // them, and past what the batch says is no record.
  Result<void> fold(const RecordBatch& batch, EpochMs now);
  // Answers, look-ups, emission, side records, and the checkpoint when it is due.
  Result<void> step(EpochMs now);
  Result<void> checkpoint(EpochMs now);
  // At the end of a worker: what is due later becomes due now.
  void hurry() { outbox_.hurry(); }
  // A rebuild that has read to the end it knows holds nothing back any more. No effect on others.
  void release_all() { release_all_ = true; }

  // Growth of the topic. acknowledgements() made so far are proven once the topic is known, by a question
  // asked after them, to have no partition more than the worker was told.
  std::uint64_t acknowledgements() const { return unproven_.count(); }
  void prove(std::uint64_t acknowledgements);
  // It has grown, or another service contributes to the same table: every row is written as one contribution
  // of several from now on, those again of which that is not proven needless. Once is enough.
  void share(const SharedRowRules& rules, std::int32_t partition_count, EpochMs now);

  // A bound is reached: no more records until it is false again.
  bool full() const;
  // Nothing pending, waiting or unacknowledged.
  bool drained() const { return outbox_.size() == 0 && waiting_.empty() && side_tracker_.size() == 0; }
  // Of a rebuild: everything that may be written without release_all() has been released, and what is
  // released of the readings before its end is acknowledged.
  bool settled(EpochMs now) const;

  Offset next_offset() const { return marks_.next_offset; }
  // The lowest offset that something not yet acknowledged needs.
  Offset needed_from() const;
  // C and the knowledge that goes with it, if it is beyond what the group has.
  std::optional<CommittedOffset> commit_due() const;
  // The group has it.
  void committed(Offset offset);

  // An offset that the table says was read and the log is not known to reach: ask the log for its end and
  // tell it. Fatal: the topic was created again.
  std::optional<Offset> doubted() const { return log_.doubted(); }
  Result<void> log_ends_at(Offset end, Offset doubted) { return log_.log_ends_at(end, doubted); }

  const WorkerCounters& counters() const { return counters_; }
  const StateMarks& marks() const { return marks_; }
  // Of the table and the side topics, empty when all is well.
  std::string trouble() const;
  // What an operator must know of and nothing here can mend, since the last call: refused rows and side
  // records.
  std::vector<std::string> take_alarms();

 private:
  PartitionWorker(WorkerSettings settings, StartPlan plan, WindowStore& store, SinkQueue& sink,
                  SideOutput& side, EpochMs now);

  // Inside, `now` is on the timeline.
  EpochMs advance(EpochMs wall);
  Result<void> restore(bool forget_windows, EpochMs now);
  Result<void> write_checkpoint(EpochMs now);
  // Records that are parsed, and whose windows are asked for, before the first of them is folded.
  static constexpr std::size_t kAhead = 8;
  void look_ahead(std::span<const Record> records);
  const ParsedRecord& parse(const Record& record, std::size_t parser);
  Result<void> fold_record(const Record& record, const ParsedRecord* parsed_ahead, EpochMs now);
  Result<void> fold_reading(const Record& record, const ParsedRecord& parsed, const ParsedReading& reading,
                            Position position, EpochMs now);
  // One reading of a window that is here: from its record, or after it waited for a look-up.
  struct ReadingToFold {
    std::span<const Metric> metrics;
    EpochMs event_ms;
    EpochMs arrival_ms;
    Position position;
    const Record* record;  // or
    const WaitingReading* waited;
  };
  Result<void> fold_into(OpenWindow& entry, const ReadingToFold& reading, EpochMs now);
  void not_folded(SideChannel channel, std::string_view reason, const ReadingToFold& reading);
  Result<void> apply_found(WaitingRoom::Found& found, EpochMs now);
  void contribution_found(OpenWindow& entry, const WaitingRoom::Found& found, EpochMs now);
  Result<Window> window_from(const WaitingRoom::Found& found);
  Result<void> check_key(const Record& record, const ParsedReading& reading) const;
  void wait_for_look_up(const Record& record, const ParsedRecord& parsed, const ParsedReading& reading,
                        Position position);
  SideRecord side_record(SideChannel channel, std::string_view reason, Position position,
                         RecordCopy original) const;
  void to_side(SideChannel channel, std::string_view reason, const Record& record, Position position);
  void row_refused(const OpenWindow& entry, const Window& window, const Error& error);
  void landed(OpenWindow& entry, Offset first);
  void release_refused(EpochMs wall);
  HourStart expiry_bound(EpochMs wall) const;
  HourStart settled_bound(EpochMs wall) const;
  HourStart release_bound(EpochMs wall) const;
  Result<void> release_held(EpochMs now);
  Result<std::vector<WindowKey>> held_windows(HourStart below) const;
  Result<void> write_changes(EpochMs now);
  bool past_end(Offset offset) const {
    return settings_.ends_with_rebuild && gate_.marks() && offset >= gate_.marks()->end;
  }
  // What a rebuild took over from an older generation may be of a log that is gone.
  bool older_log_possible(HourStart hour) const { return gate_.marks() && !gate_.replaces(hour); }
  void publish_history();
  void publish_gauges();

  WorkerSettings settings_;
  StateMarks marks_;
  std::optional<Offset> floor_;
  std::string qualifier_;
  LogIdentity log_;

  WindowStore& store_;
  SinkQueue& sink_;
  WorkerCounters counters_;
  FoldTools tools_;
  std::vector<std::unique_ptr<PayloadParser>>
      parsers_;  // kAhead of them: what each gives out lives until its next record
  std::array<const ParsedRecord*, kAhead> parsed_ahead_{};  // null: its turn has to do it
  WindowTable windows_;
  EmissionGate gate_;
  Outbox outbox_;
  UnprovenAcks unproven_;
  WaitingRoom waiting_;
  SideTracker side_tracker_;
  Emitter emitter_;

  Timeline time_;
  EpochMs next_checkpoint_ms_;
  bool release_all_ = false;
  std::vector<std::string> alarms_;
  std::vector<PutAnswer> put_answers_;
  std::vector<LookUpAnswer> look_up_answers_;
};

}  // namespace hourfold
