// The HBase side of a TableSpec: the descriptor that a new table gets, and what an existing one is found to
// lack.
//
// Pure. Layout and attributes: docs/FORMATS.md, "HBase table".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hbase_types.h"
#include "ports/rollup_table.h"

namespace hourfold {

// "name" or "namespace:name".
hbase_thrift::TTableName thrift_table_name(const std::string& table);
bool legal_table_name(const std::string& table);

hbase_thrift::TTableDescriptor make_descriptor(const std::string& table, const TableSpec& spec,
                                               hbase_thrift::TCompressionAlgorithm::type compression);
// One region a salt.
std::vector<std::string> split_keys(std::uint32_t buckets);

// What differs from the specification, as sentences to act on.
std::vector<TableFinding> compare(const hbase_thrift::TTableDescriptor& found, const TableSpec& spec);

}  // namespace hourfold
