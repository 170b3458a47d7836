// Lines folded into hours, as `fold` does it, against a recomputation over maps.
//
// An input is lines of readings.
#include <map>
#include <set>
#include <tuple>

#include "app/fold_lines.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {
namespace {

struct Hour {
  std::set<EpochMs> times;
  double min = 0;
  double max = 0;
  std::int64_t count = 0;
};
using Hours = std::map<std::tuple<std::string, std::string, EpochMs>, Hour>;

void fold_slowly(std::string_view line, PayloadParser& parser, bool deduplicate, Hours& hours) {
  const ParsedRecord& record = parser.parse({line});
  for (const ParsedReading& reading : record.readings) {
    if (reading.malformed != Malformed::kNone) continue;
    if (classify(reading.event_ms, reading.arrival_ms, {}) != Verdict::kFold) continue;
    for (const Metric& metric : record.metrics_of(reading)) {
      const EpochMs hour = reading.event_ms / kHourMs * kHourMs;
      Hour& sum = hours[{std::string(reading.device), std::string(metric.name), hour}];
      if (!sum.times.insert(reading.event_ms).second && deduplicate) continue;
      sum.min = sum.count == 0 ? metric.value : std::min(sum.min, metric.value);
      sum.max = sum.count == 0 ? metric.value : std::max(sum.max, metric.value);
      ++sum.count;
    }
  }
}

void check(std::string_view text, bool deduplicate) {
  ReadingConfig reading;
  reading.deduplicate = deduplicate;
  LineFolder folder(reading, {});
  const auto parser = make_payload_parser(shape_for_lines(reading.shape));
  Hours hours;
  Input input(text);
  while (!input.empty()) {
    const Exact line(input.line());
    folder.fold(line.view());
    if (line.view().find_first_not_of(" \t\r") != std::string_view::npos)
      fold_slowly(line.view(), *parser, deduplicate, hours);
  }
  const FoldCounts& counts = folder.counts();
  require(counts.folded + counts.duplicate + counts.quarantined + counts.archived + counts.malformed ==
              counts.readings,
          "each reading to be counted once");
  if (counts.contribution_full != 0 || counts.hour_full != 0) return;
  auto expected = hours.begin();
  folder.each_row([&](const LineFolder::Row& row) {
    require(expected != hours.end(), "no more rows", row.metric);
    const auto& [device, metric, hour] = expected->first;
    require(row.device == device && row.metric == metric && row.hour.ms == hour, "rows in order", row.metric);
    const Hour& sum = expected->second;
    require(row.rollup.count == sum.count, "the count", row.metric);
    require(row.rollup.min == sum.min && row.rollup.max == sum.max, "the smallest and the largest",
            row.metric);
    require(row.rollup.sum == row.rollup.sum, "a sum", row.metric);
    ++expected;
  });
  require(expected == hours.end(), "every row");
}

}  // namespace

void try_input(std::string_view input) {
  check(input, true);
  check(input, false);
}

}  // namespace hourfold::fuzz
