#include "app/table_generation.h"

#include <algorithm>
#include <charconv>

#include "core/table_meta.h"

namespace hourfold {

Result<Generation> read_generation(RollupTable& table) {
  auto row = table.get(std::string(meta_row_key()));
  if (!row) return row.error();
  if (!*row) return fatal("the table has no meta row: it was not created by `hourfold table create`");
  for (const StoredCell& cell : (*row)->cells) {
    if (cell.family != 'm' || cell.qualifier != "generation") continue;
    std::int32_t value = 0;
    const char* end = cell.value.data() + cell.value.size();
    if (std::from_chars(cell.value.data(), end, value).ptr == end && value >= 0) return Generation{value};
    return fatal("the table's meta row has generation '" + cell.value + "', which is no number");
  }
  return fatal("the table's meta row has no generation");
}

Result<void> raise_generation(RollupTable& table, Generation to, const std::string& owner, EpochMs now) {
  auto is = read_generation(table);
  if (!is) return is.error();
  if (*is == to) return {};
  if (*is > to) {
    return fatal("the table is of generation " + std::to_string(is->value) +
                 " now: another rebuild was faster, this one of generation " + std::to_string(to.value) +
                 " is of no use any more");
  }
  auto row = table.get(std::string(meta_row_key()));
  if (!row) return row.error();
  // Above what is there, also where the clock of another host was ahead.
  EpochMs above = now;
  for (const StoredCell& cell : (*row)->cells) above = std::max(above, cell.timestamp + 1);
  const RowPut put = generation_row(to, owner, above);
  return table.put(std::span(&put, 1));
}

}  // namespace hourfold
