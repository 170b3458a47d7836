// What must hold in a SimWorld, at any moment and at the end. Included by sim_world.h.
#pragma once

#include "sim/sim_world.h"

namespace hourfold::test {

inline void SimWorld::check_safe(const CommittedOffset& commit) {
  const Offset committed = commit.next;
  const std::string qualifier = contribution_qualifier(temper_.settings.topic, kSimPartition);
  for (; safe_up_to_ < committed; safe_up_to_ = safe_up_to_.next()) {
    std::uint32_t index = 0;
    for (const SimExpected& one : log_.expected(safe_up_to_)) {
      const Position position{safe_up_to_, index++};
      if (!one.window.device.empty()) highest_hour_ = std::max(highest_hour_, one.window.hour);
      if (is_poison(one.window)) continue;
      const std::string name = std::to_string(position.offset.value) + "." + std::to_string(position.index);
      if (one.fate == SimExpected::Fate::kSide) {
        const auto at = topics_.find(position);
        if (at == topics_.end() || !at->second.contains(one.side)) {
          findings_.add("unsafe", "committed " + std::to_string(committed.value) + " without side record " +
                                      name + " " + one.side);
        }
      } else if (one.fate == SimExpected::Fate::kFolded) {
        const std::string key = row_key(one.window.device, one.window.hour, temper_.settings.buckets);
        if (table_.revision_of(key, qualifier) < one.revision) {
          findings_.add("unsafe", "committed " + std::to_string(committed.value) + " without reading " +
                                      name + " in the table");
        }
      }
    }
  }
  // Whoever takes over looks up no hour above this one.
  if (read_commit_metadata(commit.metadata).highest_hour < highest_hour_) {
    findings_.add("metadata",
                  "committed " + std::to_string(committed.value) + " with a highest hour that is too low");
  }
}

inline SimTable::Row SimWorld::wanted_row(const WindowKey& key, const OracleWindow& window) const {
  using oracle_detail::be64;
  SimTable::Row row;
  const std::int64_t timestamp = key.hour.ms + window.revision;
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
  row[{'s', temper_.settings.topic + "/" + std::to_string(kSimPartition.value)}] = {
      timestamp, window.encode(log_.options().dedup)};
  return row;
}

// The faults stop: what is on its way arrives, stale owners learn that they are, and the last owner must come
// to the end.
inline void SimWorld::drain() {
  say("the faults stop");
  for (std::size_t i = workers_.size(); i-- > 0;) {
    if (workers_[i]->epoch != group_.epoch()) end(*workers_[i], random_.chance(.5));
  }
  if (!owner()) take_over(random_.below(hosts_.size()));
  for (int round = 0; round < 3000 && findings_.empty(); ++round) {
    now_ += 1'000;
    net_.settle();
    SimWorker* worker = owner();
    if (!worker) return findings_.add("stuck", "nobody owns the partition");
    worker->side->settle();
    note(*worker, worker->worker->step(wall()));
    poll(*worker, 3);
    worker = owner();
    if (!worker) continue;
    send_commit(*worker);
    deliver_commit(*worker);
    if (group_.committed() && group_.committed()->next == log_.end() && worker->worker->drained() &&
        net_.empty())
      return;
  }
  if (!findings_.empty()) return;
  const SimWorker* worker = owner();
  findings_.add("stuck", "at " + std::to_string(worker->worker->next_offset().value) + " of " +
                             std::to_string(log_.end().value) + ", " +
                             std::to_string(worker->worker->counters().outbox.get()) + " in the outbox, " +
                             std::to_string(worker->worker->counters().waiting.get()) + " waiting; " +
                             worker->worker->trouble());
}

inline void SimWorld::check_cells() {
  std::size_t rows = 0;
  for (const auto& [key, window] : log_.windows()) {
    if (window.revision == 0 || is_poison(key)) continue;
    ++rows;
    const auto found = table_.rows().find(row_key(key.device, key.hour, temper_.settings.buckets));
    const std::string name = key.device + " " + std::to_string((key.hour.ms - kSimStart) / kHourMs);
    if (found == table_.rows().end()) {
      findings_.add("final", "no row of " + name);
    } else if (found->second != wanted_row(key, window)) {
      findings_.add("final", "the row of " + name + " differs");
    }
  }
  if (rows != table_.rows().size()) findings_.add("final", "rows that nobody expects");
}

inline void SimWorld::check_sides() {
  bool dead_poison = false;
  for (auto at = topics_.begin(); at != topics_.end();) {
    dead_poison = at->second.erase("dead_letter row_refused") != 0 || dead_poison;
    at = at->second.empty() ? topics_.erase(at) : std::next(at);
  }
  SimSideTopics wanted;
  for (Offset offset; offset < log_.end(); offset = offset.next()) {
    std::uint32_t index = 0;
    for (const SimExpected& one : log_.expected(offset)) {
      const Position position{offset, index++};
      if (is_poison(one.window)) {
        topics_.erase(position);
      } else if (one.fate == SimExpected::Fate::kSide) {
        wanted[position].insert(one.side);
      }
    }
  }
  if (topics_ != wanted) findings_.add("final", "the side topics hold other records than they should");
  for (const auto& [key, window] : log_.windows()) {
    if (window.revision > 0 && is_poison(key) && !dead_poison)
      findings_.add("final", "a refused row left no dead letter");
  }
}

}  // namespace hourfold::test
