// A faithful rollup table: of two Puts to a cell the higher timestamp is read, at equal timestamps the later
// one. It reports what must never happen to a reader of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes.h"
#include "core/rollup_row.h"
#include "pipeline/shared_row.h"
#include "ports/rollup_table.h"

namespace hourfold::test {

class SimFindings {
 public:
  void add(const std::string& kind, const std::string& text) {
    if (kinds_.insert({kind, text}).second) order_.push_back(kind + ": " + text);
  }
  bool empty() const { return order_.empty(); }
  const std::vector<std::string>& all() const { return order_; }

 private:
  std::map<std::string, std::string> kinds_;  // the first of each kind is enough
  std::vector<std::string> order_;
};

class SimTable {
 public:
  struct Cell {
    std::int64_t timestamp = 0;
    std::string value;
    bool operator==(const Cell&) const = default;
  };
  using Row = std::map<std::pair<char, std::string>, Cell>;

  explicit SimTable(SimFindings& findings) : findings_(findings) {}

  void apply(const RowPut& put) {
    Row& row = rows_[put.key()];
    const HourStart hour = split_row_key(put.key())->hour;
    for (std::size_t i = 0; i < put.cell_count(); ++i) {
      const RowPut::Cell cell = put.cell(i);
      apply_cell(row[{cell.family, std::string(cell.qualifier)}], cell, put.timestamp(), hour);
    }
  }

  StoredRow read(const std::string& key) const {
    StoredRow read{key, {}};
    const auto row = rows_.find(key);
    if (row == rows_.end()) return read;
    for (const auto& [name, cell] : row->second)
      read.cells.push_back({name.first, name.second, cell.value, cell.timestamp});
    return read;
  }

  RowLookup look_up(const std::string& key, const std::string& contribution) const {
    return look_up_in(read(key), contribution);
  }

  bool empty() const { return rows_.empty(); }
  const std::map<std::string, Row>& rows() const { return rows_; }

  // Of the contribution in a row, 0 if there is none.
  std::int64_t revision_of(const std::string& key, const std::string& contribution) const {
    const RowLookup found = look_up(key, contribution);
    if (!found.contribution) return 0;
    ByteReader in(std::string_view(found.contribution->value).substr(2));
    return static_cast<std::int64_t>(in.varint());
  }

 private:
  static constexpr std::int64_t kNoCount = -1;

  static std::int64_t count_in(const RowPut::Cell& cell, std::string_view value) {
    if (cell.family != 'r') return kNoCount;
    if (value.size() == 32) return static_cast<std::int64_t>(read_be64(value.data() + 24));
    if (value.size() != 8 || !cell.qualifier.ends_with(":count")) return kNoCount;
    return static_cast<std::int64_t>(read_be64(value.data()));
  }

  static bool is_merged(std::int64_t timestamp, HourStart hour) {
    return split_cell_timestamp(timestamp, hour).revision >= kMergedRevision;
  }

  void apply_cell(Cell& cell, const RowPut::Cell& put, std::int64_t timestamp, HourStart hour) {
    const std::int64_t count = count_in(put, put.value);
    const std::int64_t before = count_in(put, cell.value);
    // While a topic grows, an owner that does not know may write the whole row between the read and the merge
    // of one that does: the merge lacks that until the first one hears of it (docs/decisions/0012).
    const bool same_form = is_merged(timestamp, hour) == is_merged(cell.timestamp, hour);
    const std::string where = std::string(1, put.family) + ":" + std::string(put.qualifier.substr(0, 20)) +
                              " at " + std::to_string(timestamp);
    if (!cell.value.empty() && timestamp < cell.timestamp) {
      if (count > before && same_form)
        findings_.add("hidden", where + ": a greater count lands under a lower one");
      return;
    }
    if (timestamp == cell.timestamp && cell.value != put.value)
      findings_.add("rewritten", where + ": other bytes at an equal timestamp");
    if (count < before && same_form) findings_.add("back", where + ": a reader sees the count fall");
    cell = {timestamp, std::string(put.value)};
  }

  SimFindings& findings_;
  std::map<std::string, Row> rows_;
};

}  // namespace hourfold::test
