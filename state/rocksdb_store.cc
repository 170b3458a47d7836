#include "state/rocksdb_store.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <utility>

#include "state/rocksdb_resources.h"
#include "state/rocksdb_window_store.h"
#include "state/state_dir.h"
#include "state/state_keys.h"

namespace hourfold {
namespace {

using rocksdb::Status;

// RocksDB tells a held lock by text alone.
bool lock_is_held(const Status& status) {
  if (!status.IsIOError()) return false;
  const std::string text = status.ToString();
  return text.find("While lock file") != std::string::npos ||
         text.find("lock hold by current process") != std::string::npos;
}

Error held(const std::string& path) {
  return unavailable(
      "state " + path +
      " is locked by another process; it is free once that process has let the partition go or ended");
}

// Whether the files are to blame, rather than the disk, its permissions or how RocksDB was built.
bool is_damage(const Status& status) {
  return status.IsCorruption() || status.IsNotFound() || status.IsPathNotFound();
}

// Why a database is not one that this version can go on from; empty if it is.
struct Format {
  bool newer = false;
  std::string complaint;
};

Result<Format> check_format(rocksdb::DB& db, const std::string& path) {
  std::string value;
  const Status status = db.Get({}, state_keys::format_key(), &value);
  if (!status.ok() && !status.IsNotFound() && !is_damage(status)) {
    return fatal("state " + path + ": reading its format failed: " + status.ToString());
  }
  if (status.IsNotFound()) return Format{false, "no format marker"};
  if (!status.ok()) return Format{false, status.ToString()};
  const std::optional<int> version = state_keys::read_format_value(value);
  if (!version) return Format{false, "an unknown format marker"};
  const std::string comparison = "format " + std::to_string(*version) + ", this version writes format " +
                                 std::to_string(state_keys::kFormatVersion);
  if (*version > state_keys::kFormatVersion) return Format{true, comparison};
  if (*version < state_keys::kFormatVersion) return Format{false, comparison};
  return Format{};
}

bool is_empty(rocksdb::DB& db) {
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator({}));
  it->SeekToFirst();
  return !it->Valid() && it->status().ok();
}

class RocksdbStores final : public WindowStores {
 public:
  explicit RocksdbStores(RocksdbStateOptions options)
      : options_(std::move(options)),
        resources_(std::make_shared<RocksdbResources>(options_.memory_bytes, options_.env)) {
    resources_->options.max_open_files = options_.max_open_files;
  }

  Result<std::unique_ptr<WindowStore>> open(PartitionId partition, std::string& notice) override {
    const std::string path = directory(partition);
    notice.clear();
    Attempt first = attempt(path);
    if (first.damage.empty()) return std::move(first.result);
    Result<std::string> aside = set_path_aside(path, first.damage);
    if (!aside) return aside.error();
    notice = "state of partition " + std::to_string(partition.value) + " in " + path + " cannot be used (" +
             first.damage + "); renamed to " + *aside +
             ", starting without it: windows are looked up in the sink as they are needed";
    Attempt second = attempt(path);
    if (second.damage.empty()) return std::move(second.result);
    return fatal("state " + path + ": a new, empty one cannot be used either: " + second.damage);
  }

  Result<void> set_aside(PartitionId partition, std::string_view why) override {
    const std::string path = directory(partition);
    if (!state_dir_exists(path)) return {};
    Result<std::string> aside = set_path_aside(path, why);
    if (!aside) return aside.error();
    return {};
  }

 private:
  struct Attempt {
    Result<std::unique_ptr<WindowStore>> result;
    std::string damage;  // not empty: the directory has to go aside
  };

  std::string directory(PartitionId partition) const {
    return partition_dir(options_.dir, options_.group, options_.topic, partition);
  }

  static Attempt damaged(const std::string& why) { return {fatal(why), why}; }

  Attempt attempt(const std::string& path) {
    if (auto created = create_state_dir(path); !created) return {created.error(), {}};
    Result<StateDirCheck> check = check_state_dir(path);
    if (!check) return {check.error(), {}};
    if (check->damaged) return damaged(check->reason);

    rocksdb::Options options = resources_->options;
    options.create_if_missing = true;
    rocksdb::DB* raw = nullptr;
    const Status status = rocksdb::DB::Open(options, path, &raw);
    std::unique_ptr<rocksdb::DB> db(raw);
    if (lock_is_held(status)) return {held(path), {}};
    if (is_damage(status)) return damaged(status.ToString());
    if (!status.ok()) {
      return {fatal("state " + path + " cannot be opened: " + status.ToString() +
                    "; check that this user may write there and that the disk has room, or move the "
                    "directory away to "
                    "recover from the sink"),
              {}};
    }
    return accept(std::move(db), path);
  }

  Attempt accept(std::unique_ptr<rocksdb::DB> db, const std::string& path) {
    if (is_empty(*db)) {
      rocksdb::WriteOptions without_log;
      without_log.disableWAL = true;
      const Status status = db->Put(without_log, state_keys::format_key(),
                                    state_keys::format_value(state_keys::kFormatVersion));
      if (!status.ok()) return {fatal("state " + path + " cannot be written: " + status.ToString()), {}};
    }
    Result<Format> format = check_format(*db, path);
    if (!format) return {format.error(), {}};
    if (format->newer) {
      return {fatal("state " + path + " was written by a newer version (" + format->complaint +
                    "); run that version, or move the directory away to recover from the sink"),
              {}};
    }
    if (!format->complaint.empty()) return damaged(format->complaint);
    return {
        std::unique_ptr<WindowStore>(std::make_unique<RocksdbWindowStore>(std::move(db), resources_, path)),
        {}};
  }

  // Under the lock: another process may have set the directory aside and opened a new one since we looked.
  Result<std::string> set_path_aside(const std::string& path, std::string_view why) {
    rocksdb::Env* env = resources_->options.env;
    rocksdb::FileLock* lock = nullptr;
    const Status status = env->LockFile(path + "/LOCK", &lock);
    if (lock_is_held(status)) return held(path);
    if (!status.ok()) return fatal("state " + path + " cannot be locked: " + status.ToString());
    Result<std::string> aside = rename_aside(path, why);
    env->UnlockFile(lock).PermitUncheckedError();
    return aside;
  }

  RocksdbStateOptions options_;
  std::shared_ptr<RocksdbResources> resources_;
};

}  // namespace

Result<std::unique_ptr<WindowStores>> make_rocksdb_stores(RocksdbStateOptions options) {
  if (auto created = create_state_dir(options.dir); !created) return created.error();
  return std::unique_ptr<WindowStores>(std::make_unique<RocksdbStores>(std::move(options)));
}

Result<std::unique_ptr<WindowStore>> open_rocksdb_store_for_reading(const std::string& partition_dir) {
  rocksdb::Options options;
  options.info_log_level = rocksdb::HEADER_LEVEL;
  rocksdb::DB* raw = nullptr;
  const Status status = rocksdb::DB::OpenForReadOnly(options, partition_dir, &raw);
  std::unique_ptr<rocksdb::DB> db(raw);
  if (!status.ok()) {
    const bool moved = status.IsPathNotFound() && state_dir_exists(partition_dir);
    std::string message = "state " + partition_dir + " cannot be read: " + status.ToString();
    return moved ? unavailable(std::move(message)) : fatal(std::move(message));
  }
  Result<Format> format = check_format(*db, partition_dir);
  if (!format) return format.error();
  if (!format->complaint.empty())
    return fatal("state " + partition_dir + " cannot be read: " + format->complaint);
  return std::unique_ptr<WindowStore>(
      std::make_unique<RocksdbWindowStore>(std::move(db), nullptr, partition_dir));
}

}  // namespace hourfold
