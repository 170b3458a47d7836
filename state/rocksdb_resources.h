// What all stores of a process share, and how the memory they are given is split:
//
//   one LRU cache of the whole of it: data blocks, index and filter blocks, and the memtables, which are
//   charged to it; memtables at most a quarter of it, over all partitions (past that the store that writes
//   flushes); so blocks have three quarters when every memtable is full, and more while they are not.
//
// Compaction and flush run in the threads of one Env, at one shared rate, so a process with 64 partitions is
// no heavier than one with 1. Threads: made once, used from any.
#pragma once

#include <rocksdb/options.h>

#include <cstdint>
#include <memory>

#include "state/sweeper.h"

namespace hourfold {

struct RocksdbResources {
  // env: the default one if null.
  RocksdbResources(std::uint64_t memory_bytes, rocksdb::Env* env);

  rocksdb::Options options;
  Sweeper sweeper;
};

}  // namespace hourfold
