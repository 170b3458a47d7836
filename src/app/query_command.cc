#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "app/commands.h"
#include "app/load_config.h"
#include "app/open_table.h"
#include "app/output.h"
#include "app/query_plot.h"
#include "app/query_print.h"
#include "app/query_rollups.h"
#include "app/terminal.h"
#include "core/reading.h"

namespace hourfold {
namespace {

EpochMs now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

Step parse_step(std::string_view by) {
  return by == "day" ? Step::kDay : by == "month" ? Step::kMonth : Step::kHour;
}

// What people are shown when they name no range: a day of hours, a month of days, a year of months.
int steps_shown(Step step) { return step == Step::kHour ? 24 : step == Step::kDay ? 31 : 12; }

int fail(const Error& error) {
  print_error(error.message);
  return error.retryable() ? kExitService : kExitUsage;
}

bool for_people(const QueryOptions& options) { return options.plot || options.format == "table"; }

std::optional<Error> check(const QueryOptions& options) {
  if (options.plot && options.format != "table")
    return refused("--plot draws on the terminal; it cannot be --format " + options.format);
  if (options.device.empty() || options.device.size() > kMaxDeviceBytes) {
    return refused("--device: a device has 1 to " + std::to_string(kMaxDeviceBytes) + " bytes");
  }
  return std::nullopt;
}

std::string plots(const DeviceRollups& rollups, Step step) {
  constexpr std::size_t kWidest = 160;
  PlotSize size;
  size.width = std::min(terminal_width(), kWidest);
  size.colour = has_colour();
  std::string out;
  for (const auto& [metric, series] : rollups.series) {
    out += plot_text(metric, series, step, rollups.first, rollups.last, size) + '\n';
  }
  return out + plot_legend(size.colour);
}

std::string result_text(const QueryOptions& options, const DeviceRollups& rollups, Step step) {
  if (options.format == "csv") return csv_text(options.device, rollups.series, step);
  if (options.format == "json") return json_text(options.device, rollups.series, step);
  const std::string heading =
      printable(options.device) + "   " + range_text(rollups.first, rollups.last, step) + "\n\n";
  return heading + (options.plot ? plots(rollups, step) : table_text(rollups.series, step));
}

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    out += (i > 0 ? ", " : "") + printable(names[i]);
  if (names.size() > kShown) out += ", and " + std::to_string(names.size() - kShown) + " more";
  return out;
}

// Why there is nothing to print.
int explain_nothing(RollupTable& table, const TableMeta& meta, const RollupQuery& query,
                    const DeviceRollups& found) {
  const std::string device = "device '" + printable(query.device) + "'";
  if (!found.other_metrics.empty()) {
    print_error(device + " has no metric " + joined(query.metrics) + " there; it has " +
                joined(found.other_metrics));
    return kExitCheckFailed;
  }
  RollupQuery all = query;
  all.range = {};
  const auto ever = read_rollups(table, meta, all);
  if (!ever) return fail(ever.error());
  if (ever->series.empty() && ever->other_metrics.empty()) {
    print_error("no rollups of " + device + " in the table");
    return kExitCheckFailed;
  }
  std::string message = device + " has nothing in this range";
  if (!ever->series.empty()) message += "; it has " + range_text(ever->first, ever->last, query.step);
  print_error(message);
  return kExitDone;
}

}  // namespace

int query_command(const QueryOptions& options) {
  if (const auto wrong = check(options)) return fail(*wrong);
  const auto config = load_config(options.config, NeedsKafka::kNo);
  if (!config) return kExitUsage;
  RollupQuery query{options.device, options.metrics, {}, parse_step(options.by)};
  const auto range = parse_range(options.from, options.to, query.step, now_ms());
  if (!range) return fail(range.error());
  query.range = *range;

  const auto table = open_table(config->sink, TableAccess::kReadOnly, {}, {});
  if (!table) return fail(table.error());
  const auto meta = read_table_meta(**table);
  if (!meta) return fail(meta.error());
  auto rollups = read_rollups(**table, *meta, query);
  if (!rollups) return fail(rollups.error());
  if (rollups->series.empty()) return explain_nothing(**table, *meta, query, *rollups);

  std::size_t left_out = 0;
  if (for_people(options) && options.from.empty())
    left_out = keep_newest(*rollups, query.step, steps_shown(query.step));
  TextOutput out(STDOUT_FILENO);
  out.write(result_text(options, *rollups, query.step));
  if (!out.finish()) return kExitService;
  if (left_out > 0) {
    const std::string rows = std::to_string(left_out) + (left_out == 1 ? " earlier row" : " earlier rows");
    std::fprintf(stderr, "(%s not shown; --from all shows them)\n", rows.c_str());
  }
  return kExitDone;
}

}  // namespace hourfold
