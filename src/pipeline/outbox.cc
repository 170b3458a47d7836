#include "pipeline/outbox.h"

#include <algorithm>

#include "core/check.h"

namespace hourfold {

using Stage = OpenWindow::Stage;

EpochMs emission_due(const EmitPolicy& policy, HourStart hour, std::uint64_t device_hash, EpochMs now) {
  if (now >= hour.end_ms()) return now + policy.late_delay_ms;
  const auto spread = policy.closing_spread_ms > 0
                          ? static_cast<std::int64_t>((device_hash >> 8) %
                                                      static_cast<std::uint64_t>(policy.closing_spread_ms))
                          : 0;
  return std::min(now + policy.refresh_ms, hour.end_ms() + policy.late_delay_ms + spread);
}

void Outbox::changed(OpenWindow& entry, Offset offset, EpochMs now) {
  if (entry.first_unsent) return;
  entry.first_unsent = offset;
  if (entry.refused) refused_.erase({entry.hour, &entry});
  entry.refused = false;
  // A window in flight keeps the older offset of that Put, and is scheduled when the answer is there.
  if (entry.first_in_flight) return;
  by_offset_.emplace(offset, &entry);
  schedule(entry, now);
}

void Outbox::reopen(OpenWindow& entry, Offset first, EpochMs now) {
  if (!entry.first_in_flight && !entry.first_unsent) return changed(entry, first, now);
  std::optional<Offset>& listed = entry.first_in_flight ? entry.first_in_flight : entry.first_unsent;
  if (*listed <= first) return;
  by_offset_.erase({*listed, &entry});
  by_offset_.emplace(first, &entry);
  if (entry.stage == Stage::kReady) {
    ready_[salt_of(entry)].erase({*listed, &entry});
    ready_[salt_of(entry)].emplace(first, &entry);
  }
  listed = first;
}

void Outbox::restore(OpenWindow& entry, Offset first, EpochMs now) {
  entry.first_unsent = first;
  by_offset_.emplace(first, &entry);
  schedule(entry, now);
}

void Outbox::schedule(OpenWindow& entry, EpochMs now) {
  constexpr EpochMs kGrain = 100;
  entry.stage = Stage::kScheduled;
  entry.due_ms = emission_due(policy_, entry.hour, entry.device->hash, now - ahead_ms_) + ahead_ms_;
  due_[(entry.due_ms + kGrain - 1) / kGrain * kGrain].push_back(&entry);
}

void Outbox::step(EpochMs now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    for (OpenWindow* entry : due_.begin()->second) make_ready(*entry);
    due_.erase(due_.begin());
  }
}

void Outbox::hurry() {
  for (auto& [due, entries] : due_) {
    for (OpenWindow* entry : entries) make_ready(*entry);
  }
  due_.clear();
}

void Outbox::make_ready(OpenWindow& entry) {
  HF_CHECK(entry.first_unsent);
  entry.stage = Stage::kReady;
  ready_[salt_of(entry)].emplace(*entry.first_unsent, &entry);
  ++ready_count_;
}

void Outbox::sent(OpenWindow& entry) {
  HF_CHECK(entry.stage == Stage::kReady && entry.first_unsent && !entry.first_in_flight);
  ready_[salt_of(entry)].erase({*entry.first_unsent, &entry});
  --ready_count_;
  entry.stage = Stage::kInFlight;
  entry.first_in_flight = entry.first_unsent;
  entry.first_unsent.reset();
}

void Outbox::acknowledged(OpenWindow& entry, EpochMs now) {
  HF_CHECK(entry.stage == Stage::kInFlight);
  by_offset_.erase({*entry.first_in_flight, &entry});
  entry.first_in_flight.reset();
  entry.stage = Stage::kIdle;
  if (!entry.first_unsent) return;
  by_offset_.emplace(*entry.first_unsent, &entry);
  schedule(entry, now);
}

void Outbox::returned(OpenWindow& entry) {
  HF_CHECK(entry.stage == Stage::kInFlight);
  // The older of the two offsets, under which it is listed already.
  entry.first_unsent = entry.first_in_flight;
  entry.first_in_flight.reset();
  make_ready(entry);
}

void Outbox::refused(OpenWindow& entry, EpochMs now) {
  acknowledged(entry, now);
  if (!entry.first_unsent) restore_refused(entry);
}

void Outbox::restore_refused(OpenWindow& entry) {
  entry.refused = true;
  refused_.emplace(entry.hour, &entry);
}

std::vector<OpenWindow*> Outbox::release_refused(HourStart below, std::size_t most) {
  std::vector<OpenWindow*> released;
  while (!refused_.empty() && (refused_.begin()->first < below || refused_.size() > most)) {
    OpenWindow* entry = refused_.begin()->second;
    refused_.erase(refused_.begin());
    entry->refused = false;
    released.push_back(entry);
  }
  return released;
}

}  // namespace hourfold
