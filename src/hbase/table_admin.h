// Making and inspecting the HBase table.
//
// Threads: none of its own.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "hbase/hbase_client.h"
#include "ports/rollup_table.h"

namespace hourfold {

// Hears what was chosen or waited for, one sentence each.
using Notice = std::function<void(std::string_view)>;

// Fatal: it exists already, or could not be made as specified. A creation that was interrupted before its
// last step is completed.
Result<void> create_table(HbaseClient& client, const TableSpec& spec, const Notice& notice);
Result<std::vector<TableFinding>> check_table(HbaseClient& client, const TableSpec& spec);

}  // namespace hourfold
