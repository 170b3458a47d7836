#include "pipeline/emitter.h"

#include <algorithm>

#include "core/check.h"
#include "core/contribution_codec.h"

namespace hourfold {

Emitter::Emitter(EmitterSettings settings, WindowTable& windows, Outbox& outbox, SinkQueue& sink,
                 WorkerCounters& counters, OnRefused on_refused, OnLanded on_landed)
    : settings_(std::move(settings)),
      windows_(windows),
      outbox_(outbox),
      sink_(sink),
      counters_(counters),
      on_refused_(std::move(on_refused)),
      on_landed_(std::move(on_landed)) {
  for (std::uint32_t salt = 0; salt < outbox_.salts(); ++salt)
    lanes_.emplace_back(settings_.seed * 1000003 + salt);
}

Result<void> Emitter::step(EpochMs now) {
  outbox_.step(now);
  while (healthy_in_flight_ < settings_.max_in_flight && outbox_.ready_count() > 0) {
    auto sent = send_healthy();
    if (!sent) return sent.error();
    if (!*sent) break;
  }
  // Suspect salts take turns, and have a bound of their own: the ones that are stuck hold up neither each
  // other nor the healthy ones.
  for (std::size_t tried = 0; suspects_ > 0 && tried < lanes_.size(); ++tried) {
    if (batches_.size() - healthy_in_flight_ >= settings_.max_in_flight) break;
    const std::uint32_t salt = next_suspect_;
    next_suspect_ = (next_suspect_ + 1) % outbox_.salts();
    if (!lanes_[salt].suspect || lanes_[salt].in_flight || !lanes_[salt].backoff.ready(now)) continue;
    if (auto sent = send_suspect(salt); !sent) return sent.error();
  }
  return {};
}

Result<bool> Emitter::send_healthy() {
  // A merge of the salts' queues by offset.
  using Cursor = std::pair<Outbox::Ready::const_iterator, std::uint32_t>;
  const auto later = [](const Cursor& a, const Cursor& b) { return *a.first > *b.first; };
  std::vector<Cursor> heap;
  for (std::uint32_t salt = 0; salt < lanes_.size(); ++salt) {
    if (!lanes_[salt].suspect && !outbox_.ready(salt).empty())
      heap.emplace_back(outbox_.ready(salt).begin(), salt);
  }
  std::make_heap(heap.begin(), heap.end(), later);
  Batch batch;
  while (!heap.empty() && batch.entries.size() < settings_.max_rows) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Cursor& cursor = heap.back();
    batch.entries.push_back(cursor.first->second);
    if (++cursor.first == outbox_.ready(cursor.second).end()) {
      heap.pop_back();
    } else {
      std::push_heap(heap.begin(), heap.end(), later);
    }
  }
  if (batch.entries.empty()) return false;
  if (auto sent = send(std::move(batch)); !sent) return sent.error();
  return true;
}

Result<bool> Emitter::send_suspect(std::uint32_t salt) {
  Lane& lane = lanes_[salt];
  Batch batch;
  batch.lane = static_cast<std::int32_t>(salt);
  const Outbox::Ready& ready = outbox_.ready(salt);
  auto at = lane.resume_after ? ready.upper_bound(*lane.resume_after) : ready.begin();
  if (at == ready.end()) {
    lane.resume_after.reset();
    at = ready.begin();
  }
  for (; at != ready.end() && batch.entries.size() < lane.limit; ++at) batch.entries.push_back(at->second);
  if (batch.entries.empty()) {
    // Nothing left to try it with: it counts as healthy again.
    healed(lane);
    return false;
  }
  lane.in_flight = true;
  if (auto sent = send(std::move(batch)); !sent) return sent.error();
  return true;
}

RowPut Emitter::row_of(const OpenWindow& entry, const Window& window) const {
  if (shared_) {
    return make_contribution_put(window, entry.device->id, entry.hour, settings_.buckets,
                                 settings_.generation, settings_.contribution_qualifier);
  }
  return make_row_put(window, entry.device->id, entry.hour, settings_.buckets, settings_.layout,
                      settings_.generation, settings_.contribution_qualifier);
}

Result<void> Emitter::send(Batch batch) {
  std::vector<RowPut> rows;
  std::size_t bytes = 0;
  std::size_t taken = 0;
  for (; taken < batch.entries.size() && (taken == 0 || bytes < settings_.max_bytes); ++taken) {
    OpenWindow& entry = *batch.entries[taken];
    auto window = windows_.content(entry);
    if (!window) return window.error();
    rows.push_back(row_of(entry, **window));
    bytes += rows.back().bytes();
    batch.cells += rows.back().cell_count();
    outbox_.sent(entry);
  }
  batch.entries.resize(taken);
  std::sort(rows.begin(), rows.end(), [](const RowPut& a, const RowPut& b) { return a.key() < b.key(); });
  batch.shared = shared_.has_value();
  counters_.put_batches.add();
  if (batch.lane < 0) ++healthy_in_flight_;
  const Ticket ticket = next_ticket_++;
  batches_.emplace(ticket, std::move(batch));
  sink_.put(ticket, std::move(rows), shared_);
  return {};
}

Result<void> Emitter::take(const PutAnswer& answer, EpochMs now) {
  auto node = batches_.extract(answer.ticket);
  HF_CHECK(!node.empty());
  Batch& batch = node.mapped();
  if (batch.lane >= 0) {
    lanes_[static_cast<std::size_t>(batch.lane)].in_flight = false;
  } else {
    --healthy_in_flight_;
  }
  if (!answer.outcome) {
    count_failure(answer.outcome.error().kind);
    last_error_ = answer.outcome.error().message;
    return failed(batch, answer.outcome.error(), now);
  }
  counters_.rows_put.add(batch.entries.size());
  counters_.cells_put.add(batch.cells);
  for (OpenWindow* entry : batch.entries) {
    if (shared_ && !batch.shared) {
      outbox_.returned(*entry);
      continue;
    }
    if (!batch.shared) on_landed_(*entry, *entry->first_in_flight);
    outbox_.acknowledged(*entry, now);
    windows_.mark_emission_dirty(*entry);
  }
  if (batch.lane >= 0) {
    Lane& lane = lanes_[static_cast<std::size_t>(batch.lane)];
    lane.backoff.succeeded();
    lane.limit = std::min(lane.limit * 4, settings_.max_rows);
    if (lane.limit >= settings_.max_rows && !lane.resume_after) healed(lane);
  }
  if (suspects_ == 0) last_error_.clear();
  return {};
}

void Emitter::healed(Lane& lane) {
  lane.suspect = false;
  if (--suspects_ == 0) last_error_.clear();
}

void Emitter::count_failure(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUnknown:
      return counters_.put_unknown.add();
    case ErrorKind::kRefused:
      return counters_.put_refused.add();
    case ErrorKind::kUnavailable:
    case ErrorKind::kFatal:
      return counters_.put_unavailable.add();
  }
}

Result<void> Emitter::failed(Batch& batch, const Error& error, EpochMs now) {
  if (error.kind == ErrorKind::kFatal) return error;
  if (error.kind == ErrorKind::kRefused && batch.entries.size() == 1)
    return refuse(*batch.entries.front(), error, now);
  for (OpenWindow* entry : batch.entries) outbox_.returned(*entry);
  if (batch.lane < 0) {
    for (const OpenWindow* entry : batch.entries) {
      Lane& lane = lanes_[outbox_.salt_of(*entry)];
      if (lane.suspect) continue;
      lane.suspect = true;
      lane.limit = settings_.max_rows / 2;
      ++suspects_;
      if (error.retryable()) lane.backoff.failed(now);
    }
    return {};
  }
  Lane& lane = lanes_[static_cast<std::size_t>(batch.lane)];
  if (error.kind == ErrorKind::kRefused) {
    // Nothing of it was applied: halve at once.
    lane.limit = std::max<std::size_t>(1, batch.entries.size() / 2);
    return {};
  }
  lane.backoff.failed(now);
  // An outage is no reason to go down to single rows at once; a row that poisons its batch shows after some
  // tries.
  if (error.kind == ErrorKind::kUnknown && lane.backoff.failures() >= 3) {
    // A row that fails alone without a reason must not stand before the others of its salt.
    if (batch.entries.size() == 1)
      lane.resume_after = {*batch.entries.front()->first_unsent, batch.entries.front()};
    lane.limit = std::max<std::size_t>(1, std::min(lane.limit, batch.entries.size()) / 2);
  }
  return {};
}

Result<void> Emitter::refuse(OpenWindow& entry, const Error& error, EpochMs now) {
  auto window = windows_.content(entry);
  if (!window) return window.error();
  counters_.rows_refused.add();
  on_refused_(entry, **window, error);
  outbox_.refused(entry, now);
  windows_.mark_emission_dirty(entry);
  return {};
}

}  // namespace hourfold
