// Rows to which several partitions contribute, because the topic grew or its records are spread over
// partitions in any way. Each partition Puts its own cell in `s` alone, reads the row back, and Puts `r` as
// the merge of all contributions that it read.
//
// Invariants: the timestamp of a merged `r` is 1,800,000 and the sum of the contributions' revisions above
//             the generation's, so it names one state of the row: an equal timestamp has equal bytes, a later
//             state a higher one. It is above the timestamp of every Put by a worker that knows of one
//             contribution only. Whoever Puts `r` last has read every contribution.
// Threads:    any.
// Source:     docs/decisions/0012.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric_schema.h"
#include "core/result.h"
#include "core/rollup_row.h"
#include "core/types.h"
#include "ports/rollup_table.h"

namespace hourfold {

inline constexpr Revision kMergedRevision{1'800'000};

struct SharedRowRules {
  RowLayout layout = RowLayout::kWide;
  Generation generation;
  // Hours from here on were rebuilt: contributions of older generations no longer count.
  HourStart replaced_from = HourStart::highest();
};

// Of the `r` cells that merge contributions with this sum of revisions. Saturates at the last timestamp of
// the generation.
std::int64_t merged_timestamp(HourStart hour, Generation generation, Revision sum);

// One row as it was read, seen as several contributions.
class SharedRow {
 public:
  // Fatal: a contribution is of a generation above ours. The row must outlive this.
  static Result<SharedRow> of(const StoredRow& row, HourStart hour, const SharedRowRules& rules);

  // Those that count, in the byte order of their qualifiers.
  const std::vector<const StoredCell*>& contributions() const { return contributions_; }
  std::int64_t timestamp() const { return merged_timestamp(hour_, rules_.generation, sum_); }
  // `r` is not (yet) the merge of what is there.
  bool behind() const { return !contributions_.empty() && (!rollups_at_ || *rollups_at_ < timestamp()); }
  // `r` was made of more than what is there: a contribution is gone.
  bool incomplete() const;
  // The Put of `r`. Fatal: a contribution cannot be read.
  Result<RowPut> merge() const;

 private:
  SharedRow(const StoredRow& row, HourStart hour, const SharedRowRules& rules);

  const std::string& key_;
  HourStart hour_;
  SharedRowRules rules_;
  std::vector<const StoredCell*> contributions_;
  Revision sum_;
  std::optional<std::int64_t> rollups_at_;  // highest timestamp in `r`
};

// The Puts of `r` of those rows that are behind. Refused: of a row a contribution is gone.
Result<std::vector<RowPut>> merges_of(std::span<const StoredRow> rows, const SharedRowRules& rules);

// Puts the rows, which hold contributions alone, reads them back and Puts the merges. Errors are those of
// RollupTable::put(); Refused as well for a row of which a contribution is gone.
Result<void> put_shared(RollupTable& table, std::span<const RowPut> contributions,
                        const SharedRowRules& rules);

// As RollupTable::look_up(), and whether `r` is behind.
RowLookup look_up_in(const StoredRow& row, const SharedRow& shared, std::string_view contribution);
Result<std::vector<RowLookup>> look_up_shared(RollupTable& table, std::span<const std::string> keys,
                                              std::string_view contribution, const SharedRowRules& rules);

}  // namespace hourfold
