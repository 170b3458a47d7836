#include "state/expiry.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "core/check.h"
#include "state/state_keys.h"

namespace hourfold {
namespace {

using state_keys::Kind;

// Each gap between spared windows of an hour costs a range tombstone, and many of those slow every read. Past
// this number the hour's windows are walked and deleted one by one, which costs in proportion to what is
// there to delete.
constexpr std::size_t kMaxGapsPerHour = 16;

class Expiry {
 public:
  Expiry(rocksdb::DB& db, rocksdb::WriteBatch& batch) : db_(db), batch_(batch) {}

  rocksdb::Status remove_range(const std::string& begin, const std::string& end) {
    if (begin >= end) return rocksdb::Status::OK();
    removed_ = true;
    return batch_.DeleteRange(begin, end);
  }

  rocksdb::Status remove_but(HourStart hour, const std::string& end, std::span<const WindowKey> spared) {
    if (spared.size() > kMaxGapsPerHour) return walk(hour, end, spared);
    std::string begin = state_keys::hour_key(Kind::kWindow, hour);
    for (const WindowKey& window : spared) {
      const std::string key = state_keys::window_key(window.hour, window.device);
      if (auto status = remove_range(begin, key); !status.ok()) return status;
      begin = state_keys::next_key(key);
    }
    return remove_range(begin, end);
  }

  bool removed() const { return removed_; }

 private:
  rocksdb::Status walk(HourStart hour, const std::string& end, std::span<const WindowKey> spared) {
    const std::string begin = state_keys::hour_key(Kind::kWindow, hour);
    const rocksdb::Slice upper(end);
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &upper;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> it(db_.NewIterator(options));
    for (it->Seek(begin); it->Valid(); it->Next()) {
      const auto key = state_keys::read_hour_key(it->key().ToStringView());
      if (!key) return rocksdb::Status::Corruption("a window key that is too short");
      while (!spared.empty() && spared.front().device < key->device) spared = spared.subspan(1);
      if (!spared.empty() && spared.front().device == key->device) continue;
      removed_ = true;
      if (auto status = batch_.Delete(it->key()); !status.ok()) return status;
    }
    return it->status();
  }

  rocksdb::DB& db_;
  rocksdb::WriteBatch& batch_;
  bool removed_ = false;
};

// Asking costs a seek; a range tombstone over nothing would cost every read until it is compacted away.
rocksdb::Status first_window_below(rocksdb::DB& db, const std::string& end, std::string& first) {
  const rocksdb::Slice upper(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(options));
  it->Seek(state_keys::first_key(Kind::kWindow));
  if (it->Valid()) first = it->key().ToString();
  return it->status();
}

}  // namespace

rocksdb::Status add_expiry(rocksdb::DB& db, HourStart below, const std::vector<WindowKey>& spared,
                           rocksdb::WriteBatch& batch, bool& removed) {
  HF_CHECK(std::is_sorted(spared.begin(), spared.end()));
  const std::string end = state_keys::hour_key(Kind::kWindow, below);
  std::string begin;
  if (auto status = first_window_below(db, end, begin); !status.ok() || begin.empty()) return status;

  Expiry expiry(db, batch);
  const auto last = std::lower_bound(spared.begin(), spared.end(), WindowKey{below, {}});
  for (auto it = spared.begin(); it != last;) {
    const HourStart hour = it->hour;
    const auto of_hour =
        std::find_if(it, last, [hour](const WindowKey& window) { return window.hour != hour; });
    const std::string hour_end = state_keys::hour_key(Kind::kWindow, {hour.end_ms()});
    if (hour_end > begin) {
      rocksdb::Status status = expiry.remove_range(begin, state_keys::hour_key(Kind::kWindow, hour));
      if (status.ok()) status = expiry.remove_but(hour, std::min(hour_end, end), std::span(it, of_hour));
      if (!status.ok()) return status;
      begin = hour_end;
    }
    it = of_hour;
  }
  rocksdb::Status status = expiry.remove_range(begin, end);
  removed = expiry.removed();
  return status;
}

}  // namespace hourfold
