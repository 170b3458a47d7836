#include "state/rocksdb_window_store.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <utility>

#include "state/expiry.h"
#include "state/state_dir.h"

namespace hourfold {
namespace {

using rocksdb::Status;
using rocksdb::WriteBatch;
using state_keys::Kind;

Status add_erasures(const StateChanges& changes, WriteBatch& batch) {
  Status status;
  for (const auto& entry : changes.pending) {
    if (status.ok() && !entry.first_unacknowledged)
      status = batch.Delete(state_keys::pending_key(entry.hour, entry.device));
  }
  for (const auto& entry : changes.waiting) {
    if (status.ok() && !entry.value) status = batch.Delete(state_keys::waiting_key(entry.position));
  }
  for (const auto& entry : changes.side) {
    if (status.ok() && !entry.value) status = batch.Delete(state_keys::side_key(entry.position));
  }
  return status;
}

Status add_writes(const StateChanges& changes, WriteBatch& batch) {
  Status status;
  for (const auto& window : changes.windows) {
    if (status.ok()) status = batch.Put(state_keys::window_key(window.hour, window.device), window.value);
  }
  for (const auto& entry : changes.pending) {
    if (!status.ok() || !entry.first_unacknowledged) continue;
    status = batch.Put(state_keys::pending_key(entry.hour, entry.device),
                       state_keys::offset_value(*entry.first_unacknowledged));
  }
  for (const auto& entry : changes.waiting) {
    if (status.ok() && entry.value) status = batch.Put(state_keys::waiting_key(entry.position), *entry.value);
  }
  for (const auto& entry : changes.side) {
    if (status.ok() && entry.value) status = batch.Put(state_keys::side_key(entry.position), *entry.value);
  }
  if (status.ok() && changes.marks) status = batch.Put(state_keys::marks_key(), *changes.marks);
  return status;
}

}  // namespace

RocksdbWindowStore::RocksdbWindowStore(std::unique_ptr<rocksdb::DB> db,
                                       std::shared_ptr<RocksdbResources> resources, std::string path)
    : db_(std::move(db)), resources_(std::move(resources)), path_(std::move(path)) {}

RocksdbWindowStore::~RocksdbWindowStore() {
  if (resources_) resources_->sweeper.forget(db_.get());
  db_->Close().PermitUncheckedError();
}

Error RocksdbWindowStore::failed(std::string_view what, const Status& status) const {
  if (status.IsCorruption() && resources_) mark_damaged(path_, status.ToString());
  std::string message = "state " + path_ + ": " + std::string(what) + " failed: " + status.ToString();
  message +=
      status.IsCorruption()
          ? "; at the next start it is renamed aside and recovered from the committed offset and the sink"
          : "; check the disk, then start again: it goes on from the last checkpoint";
  return fatal(std::move(message));
}

Result<std::optional<std::string>> RocksdbWindowStore::get(const std::string& key) const {
  std::optional<std::string> value(std::in_place);
  const Status status = db_->Get({}, key, &*value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return failed("reading", status);
  return value;
}

Result<std::optional<std::string>> RocksdbWindowStore::find(HourStart hour, std::string_view device) const {
  return get(state_keys::window_key(hour, device));
}

Result<std::optional<std::string>> RocksdbWindowStore::marks() const { return get(state_keys::marks_key()); }

Result<void> RocksdbWindowStore::each(
    Kind kind, const std::function<bool(std::string_view, std::string_view)>& visit) const {
  return visit_from(kind, state_keys::first_key(kind), [&](std::string_view key, std::string_view value) {
    return visit(key, value) ? Visit::kMore : Visit::kStranger;
  });
}

Result<void> RocksdbWindowStore::visit_from(Kind kind, const std::string& first, const Visitor& visit) const {
  const std::string end = state_keys::end_key(kind);
  const rocksdb::Slice upper(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options));
  for (it->Seek(first); it->Valid(); it->Next()) {
    switch (visit(it->key().ToStringView(), it->value().ToStringView())) {
      case Visit::kMore:
        break;
      case Visit::kEnough:
        return {};
      case Visit::kStranger:
        return failed("reading", Status::Corruption("an entry of another shape", it->key().ToString(true)));
    }
  }
  if (!it->status().ok()) return failed("reading", it->status());
  return {};
}

Result<void> RocksdbWindowStore::each_pending(const std::function<void(WindowKey, Offset)>& visit) const {
  return each(Kind::kPending, [&](std::string_view key, std::string_view value) {
    const auto window = state_keys::read_hour_key(key);
    const auto offset = state_keys::read_offset_value(value);
    if (!window || !offset) return false;
    visit({window->hour, std::string(window->device)}, *offset);
    return true;
  });
}

Result<void> RocksdbWindowStore::each_position(
    Kind kind, const std::function<void(Position, std::string_view)>& visit) const {
  return each(kind, [&](std::string_view key, std::string_view value) {
    const auto position = state_keys::read_position_key(key);
    if (position) visit(*position, value);
    return position.has_value();
  });
}

Result<void> RocksdbWindowStore::each_waiting(
    const std::function<void(Position, std::string_view)>& visit) const {
  return each_position(Kind::kWaiting, visit);
}

Result<void> RocksdbWindowStore::each_side(
    const std::function<void(Position, std::string_view)>& visit) const {
  return each_position(Kind::kSide, visit);
}

Result<void> RocksdbWindowStore::each_window(
    const std::function<void(HourStart, std::string_view, std::string_view)>& visit) const {
  return each(Kind::kWindow, [&](std::string_view key, std::string_view value) {
    const auto window = state_keys::read_hour_key(key);
    if (window) visit(window->hour, window->device, value);
    return window.has_value();
  });
}

Result<void> RocksdbWindowStore::windows_from(
    const WindowKey& first,
    const std::function<bool(HourStart, std::string_view, std::string_view)>& visit) const {
  return visit_from(Kind::kWindow, state_keys::window_key(first.hour, first.device),
                    [&](std::string_view key, std::string_view value) {
                      const auto window = state_keys::read_hour_key(key);
                      if (!window) return Visit::kStranger;
                      return visit(window->hour, window->device, value) ? Visit::kMore : Visit::kEnough;
                    });
}

Result<std::optional<HourStart>> RocksdbWindowStore::last_hour() const {
  const std::string first = state_keys::first_key(Kind::kWindow);
  const std::string end = state_keys::end_key(Kind::kWindow);
  const rocksdb::Slice lower(first);
  const rocksdb::Slice upper(end);
  rocksdb::ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> last(db_->NewIterator(options));
  last->SeekToLast();
  if (!last->status().ok()) return failed("looking for the last window", last->status());
  if (!last->Valid()) return std::optional<HourStart>();
  const auto window = state_keys::read_hour_key(last->key().ToStringView());
  if (!window) return fatal("state " + path_ + " has a key that is none of ours");
  return std::optional(window->hour);
}

Result<void> RocksdbWindowStore::apply(const StateChanges& changes) {
  if (!resources_) return fatal("state " + path_ + " is open for reading only");
  WriteBatch batch;
  Status status;
  bool expired = false;
  if (changes.expire_below) status = add_expiry(*db_, *changes.expire_below, changes.spared, batch, expired);
  if (status.ok()) status = add_erasures(changes, batch);
  if (status.ok()) status = add_writes(changes, batch);
  if (!status.ok()) return failed("preparing a step", status);
  if (batch.Count() == 0) return {};

  rocksdb::WriteOptions options;
  options.disableWAL = true;
  status = db_->Write(options, &batch);
  if (!status.ok()) return failed("writing", status);
  if (expired) {
    const std::lock_guard lock(sweep_mutex_);
    sweep_below_ = std::max(sweep_below_.value_or(HourStart::lowest()), *changes.expire_below);
  }
  return {};
}

Result<void> RocksdbWindowStore::flush(bool wait) {
  if (!resources_) return {};
  rocksdb::FlushOptions options;
  options.wait = wait;
  // Otherwise a flush that could slow writers down waits for compaction first, and so would the checkpoint.
  options.allow_write_stall = true;
  const Status status = db_->Flush(options);
  // Writers are held up by flushes that already run: there is nothing to start.
  if (!wait && status.IsTryAgain()) return {};
  if (!status.ok()) return failed("flushing", status);
  const std::lock_guard lock(sweep_mutex_);
  if (sweep_below_) {
    resources_->sweeper.sweep(db_.get(), state_keys::first_key(Kind::kWindow),
                              state_keys::hour_key(Kind::kWindow, *sweep_below_));
    sweep_below_.reset();
  }
  return {};
}

Result<void> RocksdbWindowStore::start_sync() { return flush(false); }
Result<void> RocksdbWindowStore::sync() { return flush(true); }

}  // namespace hourfold
