// The part of a partition worker that a growing topic concerns: what is acknowledged but not proven, and rows
// of several contributions (docs/decisions/0012).
#include "pipeline/partition_worker.h"

namespace hourfold {

// What an owner before us wrote without coming to the end of it.
void PartitionWorker::contribution_found(OpenWindow& entry, const WaitingRoom::Found& found, EpochMs now) {
  const Offset first = found.readings.front().position.offset;
  if (settings_.shared) {
    if (!found.row.behind || gate_.holds(entry.hour, entry.device->id)) return;
    outbox_.changed(entry, first, now);
  } else if (split_cell_timestamp(found.row.contribution->timestamp, entry.hour).generation ==
             marks_.generation) {
    // Rows of an older generation are kept as they are: no topic grows while it is rebuilt.
    landed(entry, first);
  }
  // The state has to have what it calls pending.
  if (entry.first_unacknowledged()) windows_.mark_content_dirty(entry);
}

void PartitionWorker::landed(OpenWindow& entry, Offset first) {
  if (!settings_.may_grow || settings_.shared) return;
  unproven_.add(entry, first);
  windows_.mark_emission_dirty(entry);
}

void PartitionWorker::prove(std::uint64_t acknowledgements) {
  unproven_.prove(acknowledgements, [this](OpenWindow& entry) { windows_.mark_emission_dirty(entry); });
}

void PartitionWorker::share(const SharedRowRules& rules, std::int32_t partition_count, EpochMs wall) {
  const EpochMs now = advance(wall);
  marks_.partition_count = partition_count;
  if (settings_.shared) return;
  settings_.shared = rules;
  emitter_.share(rules);
  waiting_.share(rules);
  for (const auto& [entry, first] : unproven_.give_up()) {
    outbox_.reopen(*entry, first, now);
    windows_.mark_emission_dirty(*entry);
  }
}

}  // namespace hourfold
