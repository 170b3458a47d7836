#include "state/rocksdb_resources.h"

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <thread>

namespace hourfold {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;

std::shared_ptr<rocksdb::TableFactory> table_format(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 8 * 1024;
  table.format_version = 5;
  // A device's first reading of an hour looks for a window that is not there: the filter answers without a
  // block.
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

// Kafka is the log, so what survives is what was flushed, and a flush must never take half of a step.
void set_durability(rocksdb::Options& options) {
  options.atomic_flush = true;
  options.paranoid_checks = true;
  options.manual_wal_flush = true;
  // Closing may keep more than the last sync(): a longer prefix. Nothing relies on it.
  options.avoid_flush_during_shutdown = false;
}

void set_sizes(rocksdb::Options& options, std::uint64_t memory_bytes) {
  options.write_buffer_size = std::clamp(memory_bytes / 32, kMiB, 64 * kMiB);
  options.max_write_buffer_number = 4;
  options.target_file_size_base = 32 * kMiB;
  options.max_bytes_for_level_base = 128 * kMiB;
  options.level_compaction_dynamic_level_bytes = true;
  options.memtable_prefix_bloom_size_ratio = 0.02;
  options.memtable_whole_key_filtering = true;
  options.max_manifest_file_size = 16 * kMiB;
  options.max_log_file_size = 4 * kMiB;
  options.keep_log_file_num = 3;
}

void set_background(rocksdb::Options& options) {
  options.max_background_jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 2U, 8U));
  // Above what folding needs by far, below what would starve a broker on the same disk.
  options.rate_limiter.reset(rocksdb::NewGenericRateLimiter(static_cast<std::int64_t>(256 * kMiB)));
  options.bytes_per_sync = kMiB;
  options.avoid_unnecessary_blocking_io = true;
  options.skip_stats_update_on_db_open = true;
  options.info_log_level = rocksdb::WARN_LEVEL;
  // Acknowledged windows leave point tombstones in the pending index: compact where they crowd.
  options.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(8192, 4096, 0.5));
}

}  // namespace

RocksdbResources::RocksdbResources(std::uint64_t memory_bytes, rocksdb::Env* env) {
  if (env != nullptr) options.env = env;
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(memory_bytes);
  options.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(memory_bytes / 4, cache);
  options.table_factory = table_format(cache);
  options.compression = rocksdb::kLZ4Compression;
  // What a checkpoint flushes is soon compacted, and compressed then.
  options.compression_per_level = {rocksdb::kNoCompression, rocksdb::kLZ4Compression};
  set_durability(options);
  set_sizes(options, memory_bytes);
  set_background(options);
}

}  // namespace hourfold
