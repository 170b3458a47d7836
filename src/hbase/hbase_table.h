// The rollup table in HBase, through its Thrift2 server.
//
// Rows are written with SYNC_WAL, one TPut a row, sorted by key. A key should be at most once in a batch with
// one timestamp: HBase does not say which of two is then the later. Server settings that matter:
// docs/RUNBOOK.md.
//
// Threads: every call from any thread; as many are under way at once as there are connections
// (sink.connections), the others wait. Errors:  as ports/rollup_table.h, and Fatal for a server that is no
// Thrift2 server or speaks another transport or protocol.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "core/config.h"
#include "ports/rollup_table.h"

namespace hourfold {

class HbaseClient;

class HbaseTable final : public RollupTable {
 public:
  // notice: hears what create() chose (the compression) and waited for; may be empty.
  // Fatal: sink.address or sink.table makes no sense. Nothing is connected before the first call.
  static Result<std::unique_ptr<HbaseTable>> make(const SinkConfig& config,
                                                  std::function<void(std::string_view)> notice);
  ~HbaseTable() override;

  Result<void> put(std::span<const RowPut> rows) override;
  Result<std::vector<RowLookup>> look_up(std::span<const std::string> keys,
                                         std::string_view contribution) override;
  Result<std::vector<StoredRow>> read(std::span<const std::string> keys) override;
  Result<void> scan(const std::string& from, const std::string& to, bool all_families,
                    const std::function<bool(const StoredRow&)>& on_row) override;
  Result<std::optional<StoredRow>> get(const std::string& key) override;
  Result<bool> empty() override;

  Result<void> create(const TableSpec& spec) override;
  Result<std::vector<TableFinding>> check(const TableSpec& spec) override;

 private:
  HbaseTable(std::unique_ptr<HbaseClient> client, bool framed, std::function<void(std::string_view)> notice);

  Result<void> put_chunk(std::span<const RowPut* const> rows);
  Result<std::vector<StoredRow>> get_multiple(std::string_view what, std::span<const std::string> keys,
                                              const std::vector<std::pair<char, std::string>>& columns);
  Result<void> find_rollups(std::span<const std::string> keys, std::string_view contribution,
                            std::span<RowLookup> rows);

  const std::unique_ptr<HbaseClient> client_;
  const bool framed_;
  const std::function<void(std::string_view)> notice_;
};

}  // namespace hourfold
