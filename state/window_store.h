// Durable home of one partition's state: windows, which of them the sink has not acknowledged, readings that
// wait for a look-up, side records not yet acknowledged, and the marks (next offset among them). They change
// only together, which is why reading again from the stored offset after a crash is harmless.
//
// Invariants: what survives a crash is the effect of a prefix of the applied changes, each whole. Values are
// opaque bytes (core/state_codec.h). Threads:    one thread owns a store; sync() of the RocksDB store may run
// while another thread of the same owner waits. Errors:     Unavailable (locked by another process), Fatal
// (newer format, corrupt, disk). A failed apply() may have been applied.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/types.h"

namespace hourfold {

// One atomic step. The parts are applied in this order: expiry, erasures, writes.
struct StateChanges {
  struct Window {
    HourStart hour;
    std::string device;
    std::string value;
  };
  struct Pending {
    HourStart hour;
    std::string device;
    std::optional<Offset> first_unacknowledged;  // empty: no longer pending
  };
  struct Entry {
    Position position;
    std::optional<std::string> value;  // empty: erase
  };

  // Removes every window of an hour below this one, except those named in spared (sorted) and those written
  // in the same step.
  std::optional<HourStart> expire_below;
  std::vector<WindowKey> spared;
  std::vector<Window> windows;
  std::vector<Pending> pending;
  std::vector<Entry> waiting;
  std::vector<Entry> side;
  std::optional<std::string> marks;
};

class WindowStore {
 public:
  virtual ~WindowStore() = default;

  // Empty if the window was never written or has expired.
  virtual Result<std::optional<std::string>> find(HourStart hour, std::string_view device) const = 0;
  // Empty for a partition never seen.
  virtual Result<std::optional<std::string>> marks() const = 0;

  // In key order. For the start of a worker and for `state` commands.
  virtual Result<void> each_pending(const std::function<void(WindowKey, Offset)>& visit) const = 0;
  virtual Result<void> each_waiting(const std::function<void(Position, std::string_view)>& visit) const = 0;
  virtual Result<void> each_side(const std::function<void(Position, std::string_view)>& visit) const = 0;
  virtual Result<void> each_window(
      const std::function<void(HourStart, std::string_view device, std::string_view)>& visit) const = 0;
  // Windows in key order from this key on, until the visitor returns false.
  virtual Result<void> windows_from(
      const WindowKey& first,
      const std::function<bool(HourStart, std::string_view device, std::string_view)>& visit) const = 0;

  // The latest hour that has a window; empty if none has.
  virtual Result<std::optional<HourStart>> last_hour() const = 0;

  // All or nothing, in order; survives a crash once a later sync() has returned ok, or earlier.
  virtual Result<void> apply(const StateChanges& changes) = 0;
  // Starts writing what was applied to disk, without waiting.
  virtual Result<void> start_sync() = 0;
  // Everything applied so far survives power loss once this is ok.
  virtual Result<void> sync() = 0;
};

// Opens the stores of one process, which share their caches and memory bounds.
class WindowStores {
 public:
  virtual ~WindowStores() = default;
  // Unavailable: locked by another process. A directory that cannot be read (corrupt, a format older than any
  // we know) is renamed aside, said in `notice`, and an empty store is returned. Fatal: newer format, not
  // writable.
  virtual Result<std::unique_ptr<WindowStore>> open(PartitionId partition, std::string& notice) = 0;
  // Renames the partition's state aside, so that the next open() starts empty. The store must be closed.
  virtual Result<void> set_aside(PartitionId partition, std::string_view why) = 0;
};

}  // namespace hourfold
