// The generation of a table, in its meta row: read by everyone who writes, raised by a rebuild.
#pragma once

#include <string>

#include "core/result.h"
#include "core/types.h"
#include "ports/rollup_table.h"

namespace hourfold {

// Fatal: the table does not say.
Result<Generation> read_generation(RollupTable& table);

// owner: whose service goes on with the table, for people. Fatal: somebody else has raised it further, or to
// the same generation. Nothing happens where it is the generation already.
Result<void> raise_generation(RollupTable& table, Generation to, const std::string& owner, EpochMs now);

}  // namespace hourfold
