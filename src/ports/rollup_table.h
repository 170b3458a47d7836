// The table of hourly rows: absolute Puts, look-ups of single rows, scans. HBase and the embedded table stand
// behind it, under one contract suite (tests/contract).
//
// Invariants: a row of a put() is applied whole or not at all. Of two Puts to a cell the higher timestamp is
// read, whichever landed
//             first; at equal timestamps the later one. There is no increment, no append and no delete.
// Threads:    every call may come from any thread; calls block.
// Errors:     Unavailable (nothing was written), Unknown (may have been), Refused (see put), Fatal (not the
// table we can work with).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/rollup_row.h"
#include "core/types.h"

namespace hourfold {

struct StoredCell {
  char family;  // 'r', 's' or 'm'
  std::string qualifier;
  std::string value;
  std::int64_t timestamp;
};

struct StoredRow {
  std::string key;
  std::vector<StoredCell> cells;  // sorted by family, then qualifier bytes
};

// What a look-up found of one row.
struct RowLookup {
  std::optional<StoredCell> contribution;  // the `s` cell of the qualifier asked for
  // The row has cells in `r` and no contribution that they could be made of: none of this topic, also none of
  // another partition, which may have written them before we know that the topic has grown. Only filled in
  // where the contribution asked for is not there.
  bool has_rollup = false;
  bool behind = false;  // of a row with several contributions: `r` is not the merge of all of them
};

// The answer that a row gives, as it was at one moment.
RowLookup look_up_in(const StoredRow& row, std::string_view contribution);

// What `table create` makes and `table check` compares with.
struct TableSpec {
  std::uint32_t buckets = 32;  // 1 to 128
  RowLayout layout = RowLayout::kWide;
  std::optional<std::int64_t> rollup_ttl_s;        // nullopt: forever
  std::optional<std::int64_t> contribution_ttl_s;  // nullopt: forever
  bool date_tiered = false;
};

struct TableFinding {
  bool harmless = false;  // worth knowing, nothing to refuse for
  std::string message;    // what was found, what was expected, what to do
};

class RollupTable {
 public:
  virtual ~RollupTable() = default;

  // All rows of a batch, each whole. On an error some rows may have been written. Refused is only answered
  // for a batch of one row, or when nothing of the batch was applied; the caller splits batches to find the
  // row that can never be written.
  virtual Result<void> put(std::span<const RowPut> rows) = 0;
  // One answer per key, in order, each as the row was at one moment. contribution: qualifier in family `s`.
  virtual Result<std::vector<RowLookup>> look_up(std::span<const std::string> keys,
                                                 std::string_view contribution) = 0;
  // All cells in `r` and `s` of each row, in the order of the keys; none where there is no row.
  virtual Result<std::vector<StoredRow>> read(std::span<const std::string> keys) = 0;
  // Rows in [from, to) in key order, family `r` only unless all_families; the callback returns false to stop.
  virtual Result<void> scan(const std::string& from, const std::string& to, bool all_families,
                            const std::function<bool(const StoredRow&)>& on_row) = 0;
  // One row, all families.
  virtual Result<std::optional<StoredRow>> get(const std::string& key) = 0;
  // No rollup row at all (the meta row does not count).
  virtual Result<bool> empty() = 0;

  // Fatal: it exists already.
  virtual Result<void> create(const TableSpec& spec) = 0;
  // Empty list: as it should be. Unavailable: no server or no such table (yet).
  virtual Result<std::vector<TableFinding>> check(const TableSpec& spec) = 0;
};

}  // namespace hourfold
