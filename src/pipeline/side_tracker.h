// Side records between the decision that a reading is not folded and the acknowledgement of its topic: they
// hold the committed offset and are in the state, so a crash loses none of them. One that its output refuses
// for good is counted, told and let go (docs/decisions/0010).
//
// Threads: the partition's worker. Bounded by the caller, which pauses the partition at full().
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/types.h"
#include "pipeline/backoff.h"
#include "pipeline/counters.h"
#include "ports/side_output.h"
#include "state/window_store.h"

namespace hourfold {

void append_side_record(std::string& out, const SideRecord& record, Offset holds);
struct HeldSideRecord {
  SideRecord record;
  Offset holds;  // the committed offset must not pass it
};
Result<HeldSideRecord> read_side_record(std::string_view bytes);

class SideTracker {
 public:
  SideTracker(SideOutput& output, WorkerCounters& counters, std::uint64_t seed, std::size_t max_bytes)
      : output_(output), counters_(counters), backoff_(seed), max_bytes_(max_bytes) {}

  void add(SideRecord record, Offset holds);
  Result<void> restore(Position position, std::string_view bytes);

  // Offers what has not been sent and takes outcomes.
  void step(EpochMs now);

  std::optional<Offset> lowest() const {
    return holds_.empty() ? std::nullopt : std::optional(*holds_.begin());
  }
  std::size_t size() const { return records_.size(); }
  bool full() const { return bytes_ >= max_bytes_; }
  const std::string& last_error() const { return last_error_; }

  void collect_changes(StateChanges& changes);
  // A line for each record that its output refused for good: it is lost but for this and the counter.
  std::vector<std::string> take_alarms() { return std::exchange(alarms_, {}); }

 private:
  struct Entry {
    HeldSideRecord held;
    std::size_t bytes = 0;
    bool persisted = false;
  };
  void insert(HeldSideRecord held, bool persisted);
  void refused(Position position, const std::string& why);
  void done(Position position);

  SideOutput& output_;
  WorkerCounters& counters_;
  Backoff backoff_;
  std::size_t max_bytes_;
  std::map<Position, Entry> records_;
  std::multiset<Offset> holds_;
  std::set<Position> unsent_;
  std::vector<Position> gone_;  // in the state, acknowledged since
  std::vector<std::string> alarms_;
  std::size_t bytes_ = 0;
  std::string last_error_;
};

}  // namespace hourfold
