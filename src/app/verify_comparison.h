// The table against the log: every row of the table is looked for among the recomputed hours, then the hours
// that no row was found for are missing.
//
// Invariants: each row that is selected is counted once, as equal, differing, or left out with a reason.
// Threads:    one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/device_filter.h"
#include "app/query_range.h"
#include "app/recomputation.h"
#include "app/verify_rows.h"
#include "core/table_meta.h"

namespace hourfold {

struct VerifyScope {
  std::string topic;
  HourRange hours;
  DeviceFilter devices{""};
  TableMeta table;
  Generation generation;
  bool several = false;  // rows may have several contributions
  std::map<PartitionId, PartitionFacts> partitions;
  HourStart expires_before = HourStart::lowest();               // rows of earlier hours may be gone
  HourStart contributions_expire_before = HourStart::lowest();  // and their contributions
};

struct VerifyCounts {
  std::uint64_t rows = 0;   // compared, the missing ones included
  std::uint64_t cells = 0;  // compared
  std::uint64_t differing_rows = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(DifferenceKind::kCount)> differing_cells{};
  std::array<std::uint64_t, static_cast<std::size_t>(RowStanding::kCount)> left_out{};  // rows, by reason

  std::uint64_t differences() const;
};

class VerifyComparison {
 public:
  VerifyComparison(VerifyScope scope, Recomputation& recomputed, OnDifference on_difference)
      : scope_(std::move(scope)), recomputed_(recomputed), on_difference_(std::move(on_difference)) {}

  // Scans what is selected. on_row: after each row, false to stop.
  Result<void> compare(RollupTable& table, const std::function<bool(std::uint64_t rows)>& on_row);
  const VerifyCounts& counts() const { return counts_; }

 private:
  struct Expected {
    PartitionId partition;
    Window window;
  };

  Result<void> compare_row_of_table(const StoredRow& row);
  Result<void> compare_hour(const StoredRow& row, const RowKeyParts& key);
  // What the partitions contribute to a row, in the order asked; only the first where rows have one.
  Result<std::vector<Expected>> expected_of(const std::vector<PartitionId>& asked, HourStart hour,
                                            std::string_view device);
  std::vector<PartitionId> asked_for(const std::vector<FoundContribution>& found) const;
  Result<void> find_missing(PartitionId partition, const PartitionFacts& facts);
  std::vector<FoundContribution> contributions_of(const StoredRow& row, HourStart hour);
  bool selected(HourStart hour, std::string_view device) const;
  Result<StoredRow> row_of(const std::vector<Expected>& expected, bool merged, HourStart hour,
                           std::string_view device) const;
  Result<void> missing(PartitionId partition, HourStart hour, std::string_view device);
  Difference about(const std::string& row, HourStart hour, std::string_view device,
                   std::optional<PartitionId> partition) const;
  void differs(Difference difference);
  std::vector<std::pair<std::string, std::string>> key_ranges() const;

  VerifyScope scope_;
  Recomputation& recomputed_;
  OnDifference on_difference_;
  SchemaPool schemas_;
  VerifyCounts counts_;
};

}  // namespace hourfold
