// A device's rollups read from the table and added up to hours, days or months.
//
// Invariants: sums of sums (compensated), sums of counts, least of the minima, greatest of the maxima, in
// order of time; never an average
//             of averages.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/query_range.h"
#include "core/aggregate.h"
#include "core/result.h"
#include "core/rollup_row.h"
#include "core/table_meta.h"
#include "ports/rollup_table.h"

namespace hourfold {

using Series = std::map<EpochMs, Aggregate>;           // by start of the step
using SeriesByMetric = std::map<std::string, Series>;  // by bytes of the name

double average(const Rollup& rollup);

struct RollupQuery {
  std::string device;
  std::vector<std::string> metrics;  // none: all
  HourRange range;
  Step step = Step::kHour;
};

struct DeviceRollups {
  SeriesByMetric series;  // without metrics that have nothing in the range
  std::size_t hours = 0;  // rows found in the range, of any metric
  EpochMs first = 0;      // start of the first and of the last step of the series; only if there are any
  EpochMs last = 0;
  std::vector<std::string> other_metrics;  // seen in the range, not asked for
};

Result<DeviceRollups> read_rollups(RollupTable& table, const TableMeta& meta, const RollupQuery& query);

// Leaves only the newest steps, counted back from the last one by the calendar. Returns how many rows of
// series were dropped.
std::size_t keep_newest(DeviceRollups& rollups, Step step, int steps);

}  // namespace hourfold
