// Rows between our types and those of the Thrift interface.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "hbase_types.h"
#include "ports/rollup_table.h"

namespace hourfold {

// SYNC_WAL: acknowledged means in the write-ahead log of the region server.
hbase_thrift::TPut thrift_put(const RowPut& row);
// No less than the row takes in a call, in either protocol.
std::size_t thrift_bytes(const RowPut& row);

// Family and qualifier; an empty qualifier stands for the whole family. No columns: the whole row.
using Columns = std::vector<std::pair<char, std::string>>;
hbase_thrift::TGet thrift_get(const std::string& key, const Columns& columns);
std::vector<hbase_thrift::TColumn> thrift_columns(const Columns& columns);

// Cells of strangers' families (longer names) are left out.
StoredRow stored_row(hbase_thrift::TResult result);

}  // namespace hourfold
