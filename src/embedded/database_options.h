// How RocksDB is set up for the embedded table: bounded memory, Bloom filters, the compression that the
// library has, and the merge of rows.
#pragma once

#include <rocksdb/options.h>

#include <cstdint>

namespace hourfold {

rocksdb::Options database_options(std::uint64_t cache_bytes, std::uint64_t write_buffer_bytes);
// All files are opened at once: the writer may remove them later.
rocksdb::Options read_only_options(rocksdb::Options options);

}  // namespace hourfold
