// A rollup table as a std::map, and random Puts for it.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ports/rollup_table.h"

namespace hourfold {

inline bool operator==(const StoredCell& a, const StoredCell& b) {
  return std::tie(a.family, a.qualifier, a.value, a.timestamp) ==
         std::tie(b.family, b.qualifier, b.value, b.timestamp);
}

}  // namespace hourfold

namespace hourfold::contract {

// The whole truth about a table in a few lines: per cell the highest timestamp wins, at equal ones the later.
class Model {
 public:
  using Columns = std::map<std::pair<char, std::string>, std::pair<std::int64_t, std::string>>;

  void put(const RowPut& row) {
    Columns& columns = rows_[row.key()];
    for (std::size_t i = 0; i < row.cell_count(); ++i) {
      const RowPut::Cell cell = row.cell(i);
      auto& held = columns.try_emplace({cell.family, std::string(cell.qualifier)}, -1, "").first->second;
      if (row.timestamp() >= held.first) held = {row.timestamp(), std::string(cell.value)};
    }
  }

  std::vector<StoredCell> row(const std::string& key, bool all_families) const {
    std::vector<StoredCell> cells;
    const auto found = rows_.find(key);
    if (found == rows_.end()) return cells;
    for (const auto& [column, held] : found->second) {
      if (all_families || column.first == 'r')
        cells.push_back({column.first, column.second, held.second, held.first});
    }
    return cells;
  }

  std::vector<StoredRow> scan(const std::string& from, const std::string& to, bool all_families) const {
    std::vector<StoredRow> out;
    for (auto i = rows_.lower_bound(from); i != rows_.end() && (to.empty() || i->first < to); ++i) {
      StoredRow found{i->first, row(i->first, all_families)};
      if (!found.cells.empty()) out.push_back(std::move(found));
    }
    return out;
  }

 private:
  std::map<std::string, Columns> rows_;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  int below(int bound) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(bound)); }
  std::string bytes(int size) {
    std::string out;
    for (int i = 0; i < size; ++i) out.push_back(static_cast<char>(below(256)));
    return out;
  }
  // Few keys, so that rows meet; binary ones, over all salts and none of the meta row's.
  std::string key() {
    return std::string(1, static_cast<char>(below(5) * 31)) +
           std::string(1, static_cast<char>(below(16) * 17)) + "\0k";
  }

  RowPut row(std::string key, std::int64_t timestamp) {
    static const char* const qualifiers[] = {"a", "b:min", "", "t/0", "t/1"};
    RowPut put(std::move(key), timestamp);
    std::set<std::pair<char, int>> columns;
    for (int i = 1 + below(6); i > 0; --i) columns.insert({"rrrs"[below(4)], below(5)});
    for (const auto& [family, qualifier] : columns) put.add(family, qualifiers[qualifier], bytes(below(20)));
    return put;
  }

  // A key may come twice, but not with one timestamp.
  std::vector<RowPut> batch() {
    std::vector<RowPut> rows;
    std::set<std::pair<std::string, std::int64_t>> used;
    for (int i = 1 + below(30); i > 0; --i) {
      std::string next = key();
      const std::int64_t timestamp = 1'000 + below(12);
      if (used.insert({next, timestamp}).second) rows.push_back(row(std::move(next), timestamp));
    }
    return rows;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace hourfold::contract
