// WindowStores over RocksDB: one directory per partition (state/state_dir.h), one column family, no
// write-ahead log, caches and memory shared by all stores of the process (state/rocksdb_resources.h). Keys
// and values: state/state_keys.h.
//
// Invariants: a step is one WriteBatch, and a batch is never split between memtables, so what was flushed is
// a prefix of the steps. Threads:    open() and set_aside() from any thread; stores as their contract says.
// Stores may outlive the WindowStores.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"
#include "state/window_store.h"

namespace rocksdb {
class Env;
}

namespace hourfold {

struct RocksdbStateOptions {
  std::string dir;  // state.dir
  std::string group;
  std::string topic;
  std::uint64_t memory_bytes = 1ULL << 30;  // over all stores of the process
  rocksdb::Env* env = nullptr;  // the operating system's; tests bring one that loses what was not synced
  int max_open_files = 128;     // of each store; 20 at least
};

// Fatal, naming it: the directory cannot be made, read or written.
Result<std::unique_ptr<WindowStores>> make_rocksdb_stores(RocksdbStateOptions options);

// The last flushed state of a partition's directory, also while a service holds it. apply() of it is Fatal.
// Unavailable: it changed under our feet, try again. Fatal: no state, not readable, another format.
Result<std::unique_ptr<WindowStore>> open_rocksdb_store_for_reading(const std::string& partition_dir);

}  // namespace hourfold
