#include "ports/rollup_table.h"

#include "core/contribution_codec.h"

namespace hourfold {

RowLookup look_up_in(const StoredRow& row, std::string_view contribution) {
  RowLookup found;
  bool rollups = false;
  bool explained = false;
  for (const StoredCell& cell : row.cells) {
    if (cell.family == 's' && cell.qualifier == contribution) found.contribution = cell;
    explained = explained || (cell.family == 's' && same_topic(cell.qualifier, contribution));
    rollups = rollups || cell.family == 'r';
  }
  found.has_rollup = rollups && !explained;
  return found;
}

}  // namespace hourfold
