// What `query` prints: a table for people, CSV and JSON lines for programs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "app/query_range.h"
#include "app/query_rollups.h"

namespace hourfold {

// Columns: metric, start of the step, min, avg, max, sum, count; numbers rounded to what can be read.
std::string table_text(const SeriesByMetric& series, Step step);
// device,metric,hour,time,min,max,avg,sum,count: `fold --format csv` and the time and the average; hour is
// day or month with --by.
std::string csv_text(std::string_view device, const SeriesByMetric& series, Step step);
// The same as an object a line.
std::string json_text(std::string_view device, const SeriesByMetric& series, Step step);

// "2026-01-31 06:00", "2026-01-31" or "2026-01".
std::string step_text(EpochMs start, Step step);
// "2026-01-31 06:00 to 2026-02-01 06:00 UTC, by hour"; last: start of the last step.
std::string range_text(EpochMs first, EpochMs last, Step step);

// How many decimals show five digits of the largest of these values, and three of what lies between them.
int decimals_for(double low, double high);
// The fewest decimals that lose nothing of the value rounded to so many.
int needed_decimals(double value, int decimals);
// Rounded to the decimals; very large and infinite values in powers of ten.
std::string rounded(double value, int decimals);
// Columns on a terminal: code points, wide East Asian letters not considered.
std::size_t columns_of(std::string_view text);
// For terminals: control characters, which could move the cursor, are shown as '?'.
std::string printable(std::string_view text);

}  // namespace hourfold
