// The rollup table in a local RocksDB directory: the same rows as in HBase, one key a row, written blind.
//
// An acknowledged put() has been synced to disk, once for all its rows; RocksDB joins the syncs of concurrent
// callers. TTLs of the specification are kept by HBase only: nothing expires here. One process writes; others
// may look with Access::kReadOnly. Such a reader sees what had reached the write-ahead log when it opened the
// table, and nothing later: open again to see more.
//
// Threads: every call from any thread.
// Errors:  as ports/rollup_table.h; Unavailable: locked by another process, or not created; Fatal: no rollup
// table, of a newer format,
//          damaged; Unknown: the disk failed while writing (the next put() tries to bring the database back).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/table_meta.h"
#include "ports/rollup_table.h"

namespace rocksdb {
class DB;
}  // namespace rocksdb

namespace hourfold {

struct EmbeddedOptions {
  std::string dir;
  std::uint64_t cache_bytes = 32ULL << 20;         // blocks, indexes and filters
  std::uint64_t write_buffer_bytes = 32ULL << 20;  // in all; a batch being written comes on top
};

class EmbeddedTable final : public RollupTable {
 public:
  enum class Access : std::uint8_t {
    kWrite,     // a missing table is created with the specification given
    kExisting,  // a missing table stays missing: calls answer Unavailable until create()
    kReadOnly,  // beside a process that writes
  };
  static Result<std::unique_ptr<EmbeddedTable>> open(const EmbeddedOptions& options, Access access,
                                                     const TableSpec& spec);
  ~EmbeddedTable() override;

  Result<void> put(std::span<const RowPut> rows) override;
  Result<std::vector<RowLookup>> look_up(std::span<const std::string> keys,
                                         std::string_view contribution) override;
  Result<std::vector<StoredRow>> read(std::span<const std::string> keys) override;
  Result<void> scan(const std::string& from, const std::string& to, bool all_families,
                    const std::function<bool(const StoredRow&)>& on_row) override;
  Result<std::optional<StoredRow>> get(const std::string& key) override;
  Result<bool> empty() override;

  Result<void> create(const TableSpec& spec) override;
  // Buckets, layout and version; the rest of the specification means nothing here.
  Result<std::vector<TableFinding>> check(const TableSpec& spec) override;

 private:
  EmbeddedTable(EmbeddedOptions options, Access access);

  Result<void> open_existing();
  Result<void> open_new(const TableSpec& spec);
  // Null as long as there is no table.
  Result<rocksdb::DB*> database() const;
  Result<std::optional<TableMeta>> read_meta(rocksdb::DB& db) const;
  Result<void> write(rocksdb::DB& db, std::span<const RowPut> rows);
  Result<void> each_value(rocksdb::DB& db, std::span<const std::string> keys,
                          const std::function<bool(std::size_t, std::string_view)>& visit) const;

  const EmbeddedOptions options_;
  const Access access_;
  std::mutex creating_;
  std::unique_ptr<rocksdb::DB> owner_;
  std::atomic<rocksdb::DB*> db_{nullptr};  // of owner_, once the table is there
  std::atomic<bool> write_failed_{false};
};

}  // namespace hourfold
