#include "pipeline/waiting_room.h"

#include <algorithm>

#include "core/bytes.h"
#include "core/check.h"
#include "core/rollup_row.h"

namespace hourfold {

WaitingRoom::WaitingRoom(Settings settings, SinkQueue& sink, WorkerCounters& counters)
    : settings_(std::move(settings)), sink_(sink), counters_(counters), backoff_(settings_.seed) {}

std::string WaitingRoom::index_key(HourStart hour, std::string_view device) {
  std::string key;
  key.reserve(8 + device.size());
  put_be64(key, static_cast<std::uint64_t>(hour.ms));
  key += device;
  return key;
}

bool WaitingRoom::waits_for(HourStart hour, std::string_view device) const {
  return !keys_.empty() && keys_.contains(index_key(hour, device));
}

void WaitingRoom::add(WindowKey key, WaitingReading reading, bool persisted) {
  bytes_ += reading.memory_bytes();
  positions_.emplace(reading.position, persisted);
  auto [at, fresh] = keys_.try_emplace(index_key(key.hour, key.device));
  at->second.readings.push_back(std::move(reading));
  if (fresh) queue_.push_back(std::move(key));
}

void WaitingRoom::step(EpochMs now, std::size_t room) {
  while (!queue_.empty() && requests_.size() < settings_.max_in_flight && asked_ < room &&
         backoff_.ready(now)) {
    const std::size_t count = std::min({queue_.size(), settings_.max_keys, room - asked_});
    asked_ += count;
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<WindowKey> request(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
    queue_.erase(queue_.begin(), end);
    std::vector<std::string> rows;
    rows.reserve(count);
    for (const WindowKey& key : request) rows.push_back(row_key(key.device, key.hour, settings_.buckets));
    const Ticket ticket = next_ticket_++;
    requests_.emplace(ticket, Request{std::move(request), shared_.has_value()});
    counters_.look_ups.add(count);
    sink_.look_up(ticket, std::move(rows), settings_.contribution_qualifier, shared_);
  }
}

Result<std::vector<WaitingRoom::Found>> WaitingRoom::take(LookUpAnswer answer, EpochMs now) {
  auto node = requests_.extract(answer.ticket);
  HF_CHECK(!node.empty());
  std::vector<WindowKey> request = std::move(node.mapped().keys);
  // Whether `r` is behind was not asked.
  const bool doubtful = shared_ && !node.mapped().shared;
  asked_ -= request.size();
  if (!answer.rows) {
    if (answer.rows.error().kind == ErrorKind::kFatal) return answer.rows.error();
    counters_.look_up_failures.add();
    last_error_ = answer.rows.error().message;
    backoff_.failed(now);
    queue_.insert(queue_.begin(), std::make_move_iterator(request.begin()),
                  std::make_move_iterator(request.end()));
    return std::vector<Found>{};
  }
  HF_CHECK(answer.rows->size() == request.size());
  backoff_.succeeded();
  last_error_.clear();
  std::vector<Found> found;
  found.reserve(request.size());
  for (std::size_t i = 0; i < request.size(); ++i) {
    auto key = keys_.extract(index_key(request[i].hour, request[i].device));
    HF_CHECK(!key.empty());
    for (const WaitingReading& reading : key.mapped().readings) {
      bytes_ -= reading.memory_bytes();
      const auto at = positions_.find(reading.position);
      if (at->second) gone_.push_back(reading.position);
      positions_.erase(at);
    }
    RowLookup& row = (*answer.rows)[i];
    if (doubtful) row.behind = row.contribution.has_value();
    found.push_back({std::move(request[i]), std::move(row), std::move(key.mapped().readings)});
  }
  return found;
}

std::optional<Offset> WaitingRoom::lowest() const {
  return positions_.empty() ? std::nullopt : std::optional(positions_.begin()->first.offset);
}

void WaitingRoom::collect_changes(StateChanges& changes) {
  for (const Position position : gone_) changes.waiting.push_back({position, std::nullopt});
  gone_.clear();
  for (const auto& [index, key] : keys_) {
    for (const WaitingReading& reading : key.readings) {
      bool& persisted = positions_.at(reading.position);
      if (persisted) continue;
      persisted = true;
      std::string value;
      append_waiting_reading(value, reading);
      changes.waiting.push_back({reading.position, std::move(value)});
    }
  }
}

}  // namespace hourfold
