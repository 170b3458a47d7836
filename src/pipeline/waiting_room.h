// Readings of windows that must first be looked up in the table, and the look-ups themselves, in batches.
//
// Invariants: readings of one window stay in position order. A reading is in the state from the first
// checkpoint that finds it here until
//             the first that no longer does. The lowest position that waits holds the committed offset.
// Threads:    the partition's worker. Bounded by the caller, which pauses the partition at full().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "core/state_codec.h"
#include "pipeline/backoff.h"
#include "pipeline/counters.h"
#include "pipeline/sink_queue.h"
#include "state/window_store.h"

namespace hourfold {

class WaitingRoom {
 public:
  struct Settings {
    std::uint32_t buckets = 32;
    std::string contribution_qualifier;
    std::size_t max_keys = 500;     // a look-up
    std::size_t max_in_flight = 2;  // look-ups
    std::size_t max_bytes = 64 << 20;
    std::uint64_t seed = 1;
  };
  // What became of one window's look-up.
  struct Found {
    WindowKey key;
    RowLookup row;
    std::vector<WaitingReading> readings;  // in position order
  };

  WaitingRoom(Settings settings, SinkQueue& sink, WorkerCounters& counters);

  // From now on rows may have several contributions.
  void share(const SharedRowRules& rules) { shared_ = rules; }

  bool waits_for(HourStart hour, std::string_view device) const;
  // persisted: it came from the state.
  void add(WindowKey key, WaitingReading reading, bool persisted);

  // room: how many more windows may be asked for, since each may come back changed.
  void step(EpochMs now, std::size_t room);
  // Fatal errors only; a look-up that failed otherwise is tried again.
  Result<std::vector<Found>> take(LookUpAnswer answer, EpochMs now);

  std::optional<Offset> lowest() const;
  std::size_t size() const { return positions_.size(); }
  bool empty() const { return positions_.empty(); }
  bool full() const { return bytes_ >= settings_.max_bytes; }
  std::size_t in_flight() const { return requests_.size(); }
  // Windows asked for and not answered.
  std::size_t asked() const { return asked_; }
  const std::string& last_error() const { return last_error_; }

  // Adds what came and went since the last call.
  void collect_changes(StateChanges& changes);

 private:
  struct Key {
    std::vector<WaitingReading> readings;
  };

  static std::string index_key(HourStart hour, std::string_view device);

  Settings settings_;
  std::optional<SharedRowRules> shared_;
  SinkQueue& sink_;
  WorkerCounters& counters_;
  Backoff backoff_;
  std::unordered_map<std::string, Key> keys_;  // by hour and device
  std::vector<WindowKey> queue_;               // not asked yet, first come first
  std::map<Position, bool> positions_;         // of all that wait; true: in the state
  std::vector<Position> gone_;                 // in the state, no longer waiting
  struct Request {
    std::vector<WindowKey> keys;
    bool shared;
  };
  std::unordered_map<Ticket, Request> requests_;
  std::size_t asked_ = 0;
  Ticket next_ticket_ = 1;
  std::size_t bytes_ = 0;
  std::string last_error_;
};

}  // namespace hourfold
