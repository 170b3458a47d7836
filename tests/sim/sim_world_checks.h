// What must hold in a SimWorld, at any moment and at the end. Included by sim_world.h.
#pragma once

#include "sim/sim_world.h"

namespace hourfold::test {

// The totals that a reader sees account for all revisions that must be in them.
inline bool SimWorld::shows(const std::string& key) const {
  const auto wanted = safe_.find(key);
  if (wanted == safe_.end()) return true;
  std::int64_t least = 0;
  for (const auto& [partition, revision] : wanted->second) least += revision;
  // An owner that has not heard of the growth may have added a metric of its own to a merge.
  const HourStart hour = split_row_key(key)->hour;
  std::int64_t revision = -1;
  for (const StoredCell& cell : table_.read(key).cells) {
    if (cell.family == 'r')
      revision = std::max(revision, split_cell_timestamp(cell.timestamp, hour).revision.value);
  }
  if (revision >= kMergedRevision.value) return revision - kMergedRevision.value >= least;
  return wanted->second.size() == 1 && revision >= least;
}

inline void SimWorld::check_reading(const SimPartition& partition, Position position,
                                    const SimExpected& reading) {
  const std::string name = "of partition " + std::to_string(partition.id.value) + ", " +
                           std::to_string(position.offset.value) + "." + std::to_string(position.index);
  if (reading.fate == SimExpected::Fate::kSide) {
    const auto at = partition.topics.find(position);
    if (at == partition.topics.end() || !at->second.contains(reading.side))
      findings_.add("unsafe", "committed without side record " + name + " " + reading.side);
  } else if (reading.fate == SimExpected::Fate::kFolded) {
    const std::string key = row_key(reading.window.device, reading.window.hour, temper_.settings.buckets);
    const std::string qualifier = contribution_qualifier(temper_.settings.topic, partition.id);
    std::int64_t& safe = safe_[key][partition.id];
    safe = std::max(safe, reading.revision);
    if (table_.revision_of(key, qualifier) < reading.revision)
      findings_.add("unsafe", "committed without the contribution of reading " + name);
    if (!shows(key)) findings_.add("unsafe", "committed without reading " + name + " in the totals");
  }
}

inline void SimWorld::check_safe(SimPartition& partition, const CommittedOffset& commit) {
  for (Offset& at = partition.safe_up_to; at < commit.next; at = at.next()) {
    std::uint32_t index = 0;
    for (const SimExpected& one : partition.log.expected(at)) {
      const Position position{at, index++};
      if (!one.window.device.empty())
        partition.highest_hour = std::max(partition.highest_hour, one.window.hour);
      if (!is_poison(one.window)) check_reading(partition, position, one);
    }
  }
  // Whoever takes over looks up no hour above this one.
  if (read_commit_metadata(commit.metadata).highest_hour < partition.highest_hour) {
    findings_.add("metadata",
                  "committed " + std::to_string(commit.next.value) + " with a highest hour that is too low");
  }
}

inline void SimWorld::add_rollups(SimTable::Row& row, const OracleWindow& window,
                                  std::int64_t timestamp) const {
  using oracle_detail::be64;
  const auto bytes = [](double value) { return be64(std::bit_cast<std::uint64_t>(value)); };
  for (const auto& [name, metric] : window.metrics) {
    const std::vector<std::pair<std::string, std::string>> values{
        {":min", bytes(metric.min)},
        {":max", bytes(metric.max)},
        {":sum", bytes(metric.sum + metric.compensation)},
        {":count", be64(static_cast<std::uint64_t>(metric.count))}};
    std::string packed;
    for (const auto& [suffix, value] : values) {
      packed += value;
      if (temper_.settings.layout == RowLayout::kWide) row[{'r', name + suffix}] = {timestamp, value};
    }
    if (temper_.settings.layout == RowLayout::kPacked) row[{'r', name}] = {timestamp, packed};
  }
}

// merged: `r` was written for several contributions, though there may be one only.
inline SimTable::Row SimWorld::wanted_row(const WindowKey& key, const Contributions& contributions,
                                          bool merged) const {
  SimTable::Row row;
  OracleWindow all;
  for (const auto& [partition, window] : contributions) {
    row[{'s', temper_.settings.topic + "/" + std::to_string(partition.value)}] = {
        key.hour.ms + window->revision, window->encode(temper_.log.dedup)};
    all.merge(*window);
  }
  add_rollups(row, all, key.hour.ms + (merged ? 1'800'000 : 0) + all.revision);
  return row;
}

inline bool SimWorld::at_rest() {
  for (const auto& partition : partitions_) {
    const SimWorker* worker = owner(*partition);
    const auto& committed = partition->group.committed();
    if (!worker || !committed || committed->next != partition->log.end() || !worker->worker->drained())
      return false;
  }
  return net_.empty();
}

// One round of everybody doing what they have to.
inline bool SimWorld::come_to_rest() {
  now_ += 1'000;
  net_.settle();
  for (const auto& partition : partitions_) {
    SimWorker* worker = owner(*partition);
    if (!worker) {
      findings_.add("stuck", "nobody owns a partition");
      return false;
    }
    worker->side->settle();
    note(*worker, worker->worker->step(wall()));
    poll(*worker, 3);
    worker = owner(*partition);
    if (!worker) continue;
    hear_partitions(*worker);
    ask_partitions(*worker);
    send_commit(*worker);
    deliver_commit(*worker);
  }
  return at_rest();
}

// The faults stop: what is on its way arrives, stale owners learn that they are, and the last owners must
// come to the end.
inline void SimWorld::drain() {
  say("the faults stop");
  for (std::size_t i = workers_.size(); i-- > 0;) {
    if (!workers_[i]->owns()) end(*workers_[i], random_.chance(.5));
  }
  for (const auto& partition : partitions_) {
    if (!owner(*partition)) take_over(*partition, random_.below(hosts_.size()));
  }
  for (int round = 0; round < 3000 && findings_.empty(); ++round) {
    if (come_to_rest()) return;
  }
  if (!findings_.empty()) return;
  std::string text;
  for (const auto& partition : partitions_) {
    const PartitionWorker& worker = *owner(*partition)->worker;
    text += "partition " + std::to_string(partition->id.value) + " at " +
            std::to_string(worker.next_offset().value) + " of " + std::to_string(partition->log.end().value) +
            ", " + std::to_string(worker.counters().outbox.get()) + " in the outbox, " +
            std::to_string(worker.counters().unproven.get()) + " unproven, " +
            std::to_string(worker.counters().waiting.get()) + " waiting; " + worker.trouble();
  }
  findings_.add("stuck", text);
}

inline void SimWorld::check_cells() {
  std::map<WindowKey, Contributions> windows;
  for (const auto& partition : partitions_) {
    for (const auto& [key, window] : partition->log.windows()) {
      if (window.revision != 0 && !is_poison(key)) windows[key][partition->id] = &window;
    }
  }
  for (const auto& [key, contributions] : windows) {
    const auto found = table_.rows().find(row_key(key.device, key.hour, temper_.settings.buckets));
    const std::string name = key.device + " " + std::to_string((key.hour.ms - kSimStart) / kHourMs);
    if (found == table_.rows().end()) {
      findings_.add("final", "no row of " + name);
      continue;
    }
    // A row that was complete before others could contribute stays as it is.
    const bool fine = found->second == wanted_row(key, contributions, true) ||
                      (contributions.size() == 1 && found->second == wanted_row(key, contributions, false));
    if (!fine) findings_.add("final", "the row of " + name + " differs");
    if (!several_ && found->second != wanted_row(key, contributions, false))
      findings_.add("final", "the row of " + name + " is shared with nobody");
  }
  if (windows.size() != table_.rows().size()) findings_.add("final", "rows that nobody expects");
}

inline void SimWorld::check_sides() {
  bool dead_poison = false;
  for (const auto& partition : partitions_) {
    SimSideTopics& topics = partition->topics;
    for (auto at = topics.begin(); at != topics.end();) {
      dead_poison = at->second.erase("dead_letter row_refused") != 0 || dead_poison;
      at = at->second.empty() ? topics.erase(at) : std::next(at);
    }
    SimSideTopics wanted;
    for (Offset offset; offset < partition->log.end(); offset = offset.next()) {
      std::uint32_t index = 0;
      for (const SimExpected& one : partition->log.expected(offset)) {
        const Position position{offset, index++};
        if (is_poison(one.window)) {
          topics.erase(position);
        } else if (one.fate == SimExpected::Fate::kSide) {
          wanted[position].insert(one.side);
        }
      }
    }
    if (topics != wanted) findings_.add("final", "the side topics hold other records than they should");
  }
  for (const auto& partition : partitions_) {
    for (const auto& [key, window] : partition->log.windows()) {
      if (window.revision > 0 && is_poison(key) && !dead_poison)
        findings_.add("final", "a refused row left no dead letter");
    }
  }
}

}  // namespace hourfold::test
