// What every rollup table must do, run over each implementation. Called inside a doctest TEST_CASE; each
// subcase gets a table of its own.
#pragma once

#include <functional>
#include <memory>

#include "ports/rollup_table.h"

namespace hourfold::contract {

class TableUnderTest {
 public:
  virtual ~TableUnderTest() = default;
  virtual RollupTable& table() = 0;
  // As after a restart of the program.
  virtual void reopen() = 0;
};

struct TableSuite {
  // A table that does not exist yet.
  std::function<std::unique_ptr<TableUnderTest>()> make;
  int random_batches = 200;
};

// The specification that the suite creates its tables with: cells of any age stay.
TableSpec suite_spec();

void run_rollup_table_contract(const TableSuite& suite);

}  // namespace hourfold::contract
