// The table of rollups that a configuration names, and how it should look.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/result.h"
#include "core/table_meta.h"
#include "ports/rollup_table.h"

namespace hourfold {

enum class TableAccess {
  kReadOnly,  // may be beside a process that holds the embedded table
  kExisting,  // an embedded table that is missing stays missing until create()
  kWrite,     // an embedded table that is missing is created
};

// "table 'rollups' at 127.0.0.1:9090"
std::string table_name(const SinkConfig& sink);

// Nothing is connected before the first call, but an embedded table is opened. notice: hears what create()
// chose, one sentence each.
Result<std::unique_ptr<RollupTable>> open_table(const SinkConfig& sink, TableAccess access,
                                                const TableSpec& spec,
                                                std::function<void(std::string_view)> notice);

// Asks the broker once for the topic's retention, which both lifetimes have to cover. contribution_ttl "auto"
// is that + policy.max_age + 1 day, or forever where the topic keeps everything, or the broker does not tell;
// notes: what the lifetimes are too short for without harm, a sentence each. Not asked for an embedded table,
// in which nothing expires. Unavailable: no broker or topic (yet). Refused: contribution_ttl is shorter than
// late readings need. Fatal: "auto" without kafka.brokers or kafka.topics, or the broker refuses us.
Result<TableSpec> table_spec(const Config& config, std::vector<std::string>& notes);

// Buckets and layout as the table itself says. Unavailable: no server, no such table. Fatal: nothing there
// says so, or a newer format.
Result<TableMeta> read_table_meta(RollupTable& table);

}  // namespace hourfold
