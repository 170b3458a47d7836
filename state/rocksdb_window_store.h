// A WindowStore over an open RocksDB. How one is opened: state/rocksdb_store.h.
#pragma once

#include <rocksdb/db.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/rocksdb_resources.h"
#include "state/state_keys.h"
#include "state/window_store.h"

namespace hourfold {

class RocksdbWindowStore final : public WindowStore {
 public:
  // resources: null for a store that is only read.
  RocksdbWindowStore(std::unique_ptr<rocksdb::DB> db, std::shared_ptr<RocksdbResources> resources,
                     std::string path);
  ~RocksdbWindowStore() override;
  RocksdbWindowStore(const RocksdbWindowStore&) = delete;
  RocksdbWindowStore& operator=(const RocksdbWindowStore&) = delete;

  Result<std::optional<std::string>> find(HourStart hour, std::string_view device) const override;
  Result<std::optional<std::string>> marks() const override;
  Result<void> each_pending(const std::function<void(WindowKey, Offset)>& visit) const override;
  Result<void> each_waiting(const std::function<void(Position, std::string_view)>& visit) const override;
  Result<void> each_side(const std::function<void(Position, std::string_view)>& visit) const override;
  Result<void> each_window(
      const std::function<void(HourStart, std::string_view, std::string_view)>& visit) const override;
  Result<std::optional<HourStart>> last_hour() const override;
  Result<void> windows_from(
      const WindowKey& first,
      const std::function<bool(HourStart, std::string_view, std::string_view)>& visit) const override;
  Result<void> apply(const StateChanges& changes) override;
  Result<void> start_sync() override;
  Result<void> sync() override;

 private:
  enum class Visit : std::uint8_t { kMore, kEnough, kStranger };  // kStranger: the entry is none of ours
  using Visitor = std::function<Visit(std::string_view key, std::string_view value)>;
  // Visits what a kind has at and above a key.
  Result<void> visit_from(state_keys::Kind kind, const std::string& first, const Visitor& visit) const;
  // All of a kind; false from the visitor: the entry is none of ours.
  Result<void> each(state_keys::Kind kind,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const;
  Result<void> each_position(state_keys::Kind kind,
                             const std::function<void(Position, std::string_view)>& visit) const;
  Result<std::optional<std::string>> get(const std::string& key) const;
  Result<void> flush(bool wait);
  Error failed(std::string_view what, const rocksdb::Status& status) const;

  std::unique_ptr<rocksdb::DB> db_;
  std::shared_ptr<RocksdbResources> resources_;
  std::string path_;
  std::mutex sweep_mutex_;                // sync() may come from another thread than apply()
  std::optional<HourStart> sweep_below_;  // expired since the last sweep was asked for
};

}  // namespace hourfold
