#include "embedded/database_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "embedded/row_value.h"

namespace hourfold {
namespace {

constexpr std::size_t kBlockBytes = 16 * 1024;
constexpr int kBloomBitsPerKey = 10;

class RowMerge final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* merged, rocksdb::Logger* /*logger*/) const override {
    if (existing == nullptr) {
      merged->assign(value.data(), value.size());
      return true;
    }
    return merge_rows({existing->data(), existing->size()}, {value.data(), value.size()}, *merged);
  }
  // Written into the database: another name is another format.
  const char* Name() const override { return "hourfold.RowMerge.1"; }
};

rocksdb::CompressionType first_supported(std::initializer_list<rocksdb::CompressionType> wanted) {
  const std::vector<rocksdb::CompressionType> supported = rocksdb::GetSupportedCompressions();
  for (const rocksdb::CompressionType type : wanted) {
    if (std::find(supported.begin(), supported.end(), type) != supported.end()) return type;
  }
  return rocksdb::kNoCompression;
}

}  // namespace

rocksdb::Options database_options(std::uint64_t cache_bytes, std::uint64_t write_buffer_bytes) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(cache_bytes);
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBloomBitsPerKey));
  table.block_size = kBlockBytes;
  table.format_version = 5;

  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.merge_operator = std::make_shared<RowMerge>();
  options.compression = first_supported({rocksdb::kLZ4Compression, rocksdb::kSnappyCompression});
  // Rows are written again while their hour is open: what is flushed first does not last.
  options.compression_per_level = {rocksdb::kNoCompression, options.compression};
  options.level_compaction_dynamic_level_bytes = true;
  options.write_buffer_size = write_buffer_bytes / 2;  // one being filled, one being flushed
  options.max_write_buffer_number = 2;
  options.max_total_wal_size = 2 * write_buffer_bytes;
  options.max_open_files = 512;
  options.max_background_jobs = 2;
  options.bytes_per_sync = 1 << 20;
  options.keep_log_file_num = 2;
  options.max_log_file_size = 1 << 20;
  options.info_log_level = rocksdb::WARN_LEVEL;
  options.skip_stats_update_on_db_open = true;
  return options;
}

rocksdb::Options read_only_options(rocksdb::Options options) {
  options.max_open_files = -1;
  options.info_log_level = rocksdb::FATAL_LEVEL;
  return options;
}

}  // namespace hourfold
