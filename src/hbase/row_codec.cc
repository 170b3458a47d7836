#include "hbase/row_codec.h"

#include <algorithm>
#include <tuple>

namespace hourfold {
namespace {

// Binary protocol: a field header of 3 bytes and a length of 4 for each of three strings, the end of the
// struct.
constexpr std::size_t kCellOverhead = 3 * (3 + 4) + 1 + 1;
constexpr std::size_t kRowOverhead = 64;

}  // namespace

hbase_thrift::TPut thrift_put(const RowPut& row) {
  hbase_thrift::TPut put;
  put.row = row.key();
  put.__set_timestamp(row.timestamp());
  put.__set_durability(hbase_thrift::TDurability::SYNC_WAL);
  put.columnValues.resize(row.cell_count());
  for (std::size_t i = 0; i < row.cell_count(); ++i) {
    const RowPut::Cell cell = row.cell(i);
    hbase_thrift::TColumnValue& column = put.columnValues[i];
    column.family.assign(1, cell.family);
    column.qualifier.assign(cell.qualifier);
    column.value.assign(cell.value);
  }
  return put;
}

std::size_t thrift_bytes(const RowPut& row) {
  return row.bytes() + row.cell_count() * kCellOverhead + kRowOverhead;
}

std::vector<hbase_thrift::TColumn> thrift_columns(const Columns& columns) {
  std::vector<hbase_thrift::TColumn> out(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    out[i].family.assign(1, columns[i].first);
    if (!columns[i].second.empty()) out[i].__set_qualifier(columns[i].second);
  }
  return out;
}

hbase_thrift::TGet thrift_get(const std::string& key, const Columns& columns) {
  hbase_thrift::TGet get;
  get.row = key;
  if (!columns.empty()) get.__set_columns(thrift_columns(columns));
  return get;
}

StoredRow stored_row(hbase_thrift::TResult result) {
  StoredRow row;
  row.key = std::move(result.row);
  row.cells.reserve(result.columnValues.size());
  for (hbase_thrift::TColumnValue& cell : result.columnValues) {
    if (cell.family.size() != 1) continue;
    row.cells.push_back({cell.family[0], std::move(cell.qualifier), std::move(cell.value), cell.timestamp});
  }
  std::sort(row.cells.begin(), row.cells.end(), [](const StoredCell& a, const StoredCell& b) {
    return std::tie(a.family, a.qualifier) < std::tie(b.family, b.qualifier);
  });
  return row;
}

}  // namespace hourfold
