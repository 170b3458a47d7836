// The part of a partition worker that keeps its state: what is taken up at the start, what a checkpoint
// writes, what may be committed.
#include <algorithm>
#include <array>

#include "pipeline/partition_worker.h"

namespace hourfold {
namespace {

constexpr std::size_t kReleasedAtOnce = 5'000;  // windows a step

// The hour so long before the highest arrival. The wall clock only holds a forged stamp back: it would expire
// everything.
HourStart hour_before(const StateMarks& marks, EpochMs wall, std::int64_t age_ms) {
  if (marks.highest_arrival_ms == 0) return HourStart::lowest();
  return HourStart::of(std::min(marks.highest_arrival_ms, wall) - age_ms);
}

}  // namespace

Result<void> PartitionWorker::restore(bool forget_windows, EpochMs now) {
  auto pending = store_.each_pending([&](const WindowKey& key, Offset first) {
    OpenWindow& entry = windows_.insert_unloaded(key.hour, key.device);
    entry.stored_mark = first;
    if (first == OpenWindow::kRefusedMark) {
      outbox_.restore_refused(entry);
    } else {
      outbox_.restore(entry, first, now);
    }
  });
  if (!pending) return pending;
  Result<void> broken;
  auto waiting = store_.each_waiting([&](Position position, std::string_view bytes) {
    auto reading = read_waiting_reading(position, bytes);
    if (!reading) {
      broken = reading.error();
      return;
    }
    counters_.consumed.add();
    WindowKey key{HourStart::of(reading->event_ms), reading->device};
    waiting_.add(std::move(key), std::move(*reading), true);
  });
  if (!waiting) return waiting;
  auto side = store_.each_side([&](Position position, std::string_view bytes) {
    if (auto restored = side_tracker_.restore(position, bytes); !restored) broken = restored.error();
  });
  if (!side) return side;
  if (!broken || !forget_windows) return broken;
  StateChanges changes;
  changes.expire_below = HourStart::highest();
  windows_.collect_changes(changes);
  changes.marks = write_state_marks(marks_);
  return store_.apply(changes);
}

HourStart PartitionWorker::settled_bound(EpochMs wall) const {
  return hour_before(marks_, wall, settings_.retention_ms);
}

// Refused windows wait for a change. None comes to an hour whose readings would all be too old, and more than
// fit into their bound must not pile up.
void PartitionWorker::release_refused(EpochMs wall) {
  const HourStart below = hour_before(marks_, wall, settings_.policy.max_age_ms);
  for (OpenWindow* entry : outbox_.release_refused(below, settings_.max_refused)) {
    counters_.refused_released.add();
    windows_.mark_emission_dirty(*entry);
  }
}

// Only the state has the windows that a rebuild holds back.
HourStart PartitionWorker::expiry_bound(EpochMs wall) const {
  return std::min(settled_bound(wall), gate_.held_from());
}

Result<void> PartitionWorker::checkpoint(EpochMs now) { return write_checkpoint(advance(now)); }

Result<void> PartitionWorker::write_changes(EpochMs now) {
  StateChanges changes;
  if (const HourStart bound = expiry_bound(now - time_.ahead_ms()); bound > marks_.expire_below) {
    marks_.expire_below = bound;
    marks_.look_below = std::max(marks_.look_below, HourStart{bound.ms - kHourMs});
    changes.expire_below = bound;
  }
  release_refused(now - time_.ahead_ms());
  counters_.windows_expired.add(windows_.collect_changes(changes));
  waiting_.collect_changes(changes);
  side_tracker_.collect_changes(changes);
  marks_.rebuild = gate_.marks();
  changes.marks = write_state_marks(marks_);
  return store_.apply(changes);
}

Result<void> PartitionWorker::write_checkpoint(EpochMs now) {
  if (auto written = write_changes(now); !written) return written;
  if (auto started = store_.start_sync(); !started) return started;
  windows_.shrink(settings_.memory_bytes / 4 * 3);
  next_checkpoint_ms_ = now + settings_.checkpoint_ms;
  counters_.checkpoints.add();
  return {};
}

Offset PartitionWorker::needed_from() const {
  Offset offset = marks_.next_offset;
  for (const auto& lowest :
       {outbox_.lowest(), unproven_.lowest(), waiting_.lowest(), side_tracker_.lowest(), gate_.lowest()}) {
    if (lowest) offset = std::min(offset, *lowest);
  }
  return offset;
}

std::optional<CommittedOffset> PartitionWorker::commit_due() const {
  const Offset offset = needed_from();
  // Below the floor we are replaying what the group has passed; the knowledge that goes with it is there as
  // well.
  if (floor_ && offset <= *floor_) return std::nullopt;
  CommitMetadata metadata;
  metadata.highest_hour = marks_.hours.before(offset);
  metadata.partition_count = marks_.partition_count;
  metadata.last_folded = marks_.last_folded;
  metadata.fingerprint = marks_.fingerprint;
  metadata.rebuild = gate_.marks();
  return CommittedOffset{offset, write_commit_metadata(metadata)};
}

void PartitionWorker::committed(Offset offset) {
  floor_ = floor_ ? std::max(*floor_, offset) : offset;
  marks_.hours.forget_before(offset);
}

HourStart PartitionWorker::release_bound(EpochMs wall) const {
  if (marks_.next_offset < gate_.marks()->end) return HourStart::lowest();
  return release_all_ || settings_.ends_with_rebuild ? HourStart::highest() : settled_bound(wall);
}

bool PartitionWorker::settled(EpochMs wall) const {
  if (!gate_.marks()) return true;
  const Offset end = gate_.marks()->end;
  if (marks_.next_offset < end || gate_.held_from() < release_bound(wall)) return false;
  return std::ranges::all_of(std::array{outbox_.lowest(), waiting_.lowest()},
                             [&](const auto& lowest) { return !lowest || *lowest >= end; });
}

// Some of the windows that may be written now go to the outbox, as if they had just changed.
Result<void> PartitionWorker::release_held(EpochMs now) {
  if (!gate_.marks() || outbox_.size() >= settings_.max_outbox / 2) return {};
  const HourStart below = release_bound(now - time_.ahead_ms());
  if (gate_.held_from() >= below) return {};
  if (!windows_.clean()) {
    if (auto written = write_changes(now); !written) return written;
  }
  auto keys = held_windows(below);
  if (!keys) return keys.error();
  for (const WindowKey& key : *keys) {
    OpenWindow& entry = windows_.stored_entry(key.hour, key.device);
    outbox_.changed(entry, gate_.lowest_of(key.hour), now);
    windows_.mark_emission_dirty(entry);
  }
  // The last key with a NUL behind it is the next one that could be.
  gate_.release_to(keys->size() < kReleasedAtOnce ? WindowKey{below, ""}
                                                  : WindowKey{keys->back().hour, keys->back().device + '\0'});
  return {};
}

// The first windows that are held back of the hours below, at most kReleasedAtOnce.
Result<std::vector<WindowKey>> PartitionWorker::held_windows(HourStart below) const {
  std::vector<WindowKey> keys;
  auto visited = store_.windows_from(
      gate_.marks()->released, [&](HourStart hour, std::string_view device, std::string_view /*value*/) {
        if (hour >= below) return false;
        // Without an offset nothing was folded into the hour since it was written.
        if (gate_.marks()->held.contains(hour)) keys.push_back({hour, std::string(device)});
        return keys.size() < kReleasedAtOnce;
      });
  if (!visited) return visited.error();
  return keys;
}

}  // namespace hourfold
