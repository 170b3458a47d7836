// What the meta row says of a table beyond its format: the generation, read by everyone who writes and raised
// by a rebuild, and whether its rows may have several contributions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/result.h"
#include "core/types.h"
#include "ports/rollup_table.h"

namespace hourfold {

struct TableFacts {
  Generation generation;
  // Of a rebuilt table: hours from here on are wholly of its generation.
  HourStart replaced_from = HourStart::highest();
  bool several = false;                            // contributions to a row are possible; never taken back
  std::map<std::string, std::int32_t> partitions;  // of the topics, when somebody last looked
};

// Fatal: the table does not say.
Result<TableFacts> read_table_facts(RollupTable& table);

// owner: whose service goes on with the table, for people. Fatal: somebody else has raised it further, or to
// the same generation. Nothing happens where it is the generation already.
Result<void> raise_generation(RollupTable& table, Generation to, HourStart replaced_from,
                              const std::string& owner, EpochMs now);

// Nothing happens where the table says so already.
Result<void> note_partitions(RollupTable& table, const std::string& topic, std::int32_t partitions,
                             bool several, EpochMs now);

}  // namespace hourfold
