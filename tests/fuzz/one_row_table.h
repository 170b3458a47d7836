// A table of a single row, which is what it is given.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ports/rollup_table.h"

namespace hourfold::fuzz {

class OneRowTable final : public RollupTable {
 public:
  explicit OneRowTable(std::string key) { row.key = std::move(key); }

  Result<void> put(std::span<const RowPut> rows) override {
    for (const RowPut& put : rows) {
      for (std::size_t i = 0; i < put.cell_count(); ++i) {
        const RowPut::Cell cell = put.cell(i);
        row.cells.push_back(
            {cell.family, std::string(cell.qualifier), std::string(cell.value), put.timestamp()});
      }
    }
    return {};
  }
  Result<std::optional<StoredRow>> get(const std::string& key) override {
    return key == row.key ? std::optional(row) : std::nullopt;
  }
  Result<std::vector<RowLookup>> look_up(std::span<const std::string>, std::string_view) override {
    return std::vector<RowLookup>();
  }
  Result<std::vector<StoredRow>> read(std::span<const std::string>) override {
    return std::vector<StoredRow>();
  }
  Result<void> scan(const std::string&, const std::string&, bool,
                    const std::function<bool(const StoredRow&)>&) override {
    return {};
  }
  Result<bool> empty() override { return true; }
  Result<void> create(const TableSpec&) override { return {}; }
  Result<std::vector<TableFinding>> check(const TableSpec&) override { return std::vector<TableFinding>(); }

  StoredRow row;
};

}  // namespace hourfold::fuzz
