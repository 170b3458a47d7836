// The windows of one partition that are in memory, by device and hour, over the window store that holds the
// rest.
//
// Invariants: a window that is pending, in flight or refused always has an entry here; its content may have
// been unloaded, and then the
//             store has it as it is. An entry that is none of these and clean may be dropped at any time.
// Ownership:  entries live at a stable address until erased.
// Threads:    the partition's worker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/types.h"
#include "core/window.h"
#include "state/window_store.h"

namespace hourfold {

struct DeviceEntry;
class DeviceIndex;

struct OpenWindow {
  OpenWindow(DeviceEntry* owner, HourStart start) : device(owner), hour(start) {}

  DeviceEntry* device;
  HourStart hour;
  std::optional<Window> window;  // empty: unloaded, the store has it

  // Emission (outbox.h keeps these).
  std::optional<Offset> first_unsent;  // first offset not in the Put that is on its way, or in none
  std::optional<Offset> first_in_flight;
  EpochMs due_ms = 0;
  enum class Stage : std::uint8_t { kIdle, kScheduled, kReady, kInFlight } stage = Stage::kIdle;
  bool refused = false;
  // Acknowledged, and whether that counts is not known yet (unproven_acks.h keeps these).
  std::uint32_t unproven = 0;
  Offset first_unproven;  // while there are any

  // Checkpoints (window_table.h keeps these).
  bool content_dirty = false;         // the store has an older content, or none
  bool listed_dirty = false;          // is in the list of entries that the next checkpoint looks at
  std::optional<Offset> stored_mark;  // as in the store's pending index
  std::uint32_t touched = 0;          // number of the checkpoint interval it was last folded into
  std::uint32_t counted_bytes = 0;

  // First offset whose effect the table has not acknowledged.
  std::optional<Offset> first_unacknowledged() const {
    const auto first = first_in_flight ? first_in_flight : first_unsent;
    if (unproven == 0) return first;
    return first ? std::min(*first, first_unproven) : first_unproven;
  }
  // What the store's pending index says of it: also refused windows have to be found again, though they hold
  // no offset.
  std::optional<Offset> pending_mark() const {
    const auto first = first_unacknowledged();
    return first || !refused ? first : std::optional(kRefusedMark);
  }
  static constexpr Offset kRefusedMark{std::numeric_limits<std::int64_t>::max()};
  bool must_stay() const { return first_unsent || first_in_flight || refused || unproven != 0; }
};

struct DeviceEntry {
  std::string id;
  std::uint64_t hash = 0;
  std::uint32_t murmur = 0;                          // decides the salt
  std::vector<std::unique_ptr<OpenWindow>> windows;  // few: the hours in memory, the last opened one first
};

class WindowTable {
 public:
  WindowTable(WindowStore& store, FoldTools& tools);
  ~WindowTable();

  // Asks for the memory that finding and folding these will touch, so that its way from the RAM overlaps. A
  // hint.
  struct Upcoming {
    std::string_view device;
    HourStart hour;
  };
  static constexpr std::size_t kMaxUpcoming = 16;
  void prefetch(std::span<const Upcoming> upcoming) const;

  // At the start: no window of the store is of a later hour.
  void store_reaches(std::optional<HourStart> last_hour) {
    stored_to_ = last_hour.value_or(HourStart::lowest());
  }

  // In memory, else from the store, else null. Errors are the store's.
  Result<OpenWindow*> find(HourStart hour, std::string_view device);
  // The entry must not exist.
  OpenWindow& insert(HourStart hour, std::string_view device, Window window);
  // An entry whose content the store has: for what is pending at the start.
  OpenWindow& insert_unloaded(HourStart hour, std::string_view device);
  // In memory, else a new entry whose content the store has.
  OpenWindow& stored_entry(HourStart hour, std::string_view device);
  // Content of an entry, from the store if it was unloaded.
  Result<Window*> content(OpenWindow& entry);

  void mark_content_dirty(OpenWindow& entry);
  void mark_emission_dirty(OpenWindow& entry) { list_dirty(entry); }

  // Everything that changed since the last call, as changes of the store, and counts them as stored. Drops
  // the entries of hours below changes.expire_below that need not stay, and names those that do in
  // changes.spared. Returns how many were dropped.
  std::size_t collect_changes(StateChanges& changes);
  // Unloads clean windows until at most target_bytes are left, those not folded into lately first.
  void shrink(std::size_t target_bytes);

  // Nothing changed since the last collect_changes().
  bool clean() const { return dirty_.empty(); }

  std::size_t loaded_bytes() const { return loaded_bytes_; }
  std::size_t size() const { return entries_; }

 private:
  OpenWindow& new_entry(HourStart hour, std::string_view device);
  Result<OpenWindow*> load(HourStart hour, std::string_view device);
  void list_dirty(OpenWindow& entry);
  void count_bytes(OpenWindow& entry);
  void unload(OpenWindow& entry);
  std::size_t expire(HourStart below, std::vector<WindowKey>& spared);
  bool shrink_device(DeviceEntry& device, std::uint32_t untouched_since);

  WindowStore& store_;
  FoldTools& tools_;
  std::unique_ptr<DeviceIndex> devices_;
  std::vector<OpenWindow*> dirty_;
  std::size_t loaded_bytes_ = 0;
  std::size_t entries_ = 0;
  std::uint32_t interval_ = 0;
  // Windows of later hours are all in memory: whoever is not found there is not in the store either.
  HourStart stored_to_ = HourStart::highest();
};

}  // namespace hourfold
