#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <mutex>

#include "app/assemble.h"
#include "app/commands.h"
#include "app/load_config.h"
#include "app/log.h"
#include "app/log_facts.h"
#include "app/null_ports.h"
#include "app/open_schemas.h"
#include "app/open_table.h"
#include "app/output.h"
#include "app/progress_line.h"
#include "app/query_range.h"
#include "app/rebuild_plan.h"
#include "app/run_service.h"
#include "app/startup_wait.h"
#include "app/table_facts.h"
#include "state/state_dir.h"

namespace hourfold {
namespace {

namespace fs = std::filesystem;

int fail(const Error& error) {
  print_error(error.message);
  return error.kind == ErrorKind::kRefused ? kExitUsage : kExitService;
}

struct Rebuild {
  RebuildKind kind = RebuildKind::kFill;
  std::optional<EpochMs> from_time;
  Config config;      // of the service that rebuilds: its group, its table
  SinkConfig source;  // the table of the configuration
  RebuildPlan plan;
  RebuildProgress progress;
  bool live = false;          // it has taken over before
  std::uint64_t records = 0;  // to read
};

using Committed = std::map<PartitionId, std::optional<CommittedOffset>>;

Result<std::unique_ptr<LogReader>> log_reader(const Config& config, const std::string& group) {
  auto reader = LogReader::create(
      {{config.kafka.brokers, config.kafka.properties, nullptr}, config.kafka.topics.front(), group});
  if (!reader) return refused(reader.error().message);
  return reader;
}

Result<Committed> committed_by(LogReader& reader) {
  auto count = reader.partition_count();
  if (!count) return count.error();
  Committed committed;
  for (std::int32_t i = 0; i < *count; ++i) {
    auto offset = reader.committed({i});
    if (!offset) return offset.error();
    committed[{i}] = *offset;
  }
  return committed;
}

Result<Committed> committed_by(const Config& config, const std::string& group) {
  auto reader = log_reader(config, group);
  return reader ? committed_by(**reader) : Result<Committed>(reader.error());
}

Result<TableFacts> facts_of(const SinkConfig& sink) {
  auto table = open_table(sink, TableAccess::kReadOnly, {}, {});
  return table ? read_table_facts(**table) : Result<TableFacts>(table.error());
}

Result<Generation> generation_of(const Config& config, RebuildKind kind) {
  // An embedded table that is missing is made when it is first written to.
  if (kind == RebuildKind::kOtherTable && config.sink.type == SinkType::kEmbedded &&
      !fs::exists(config.sink.dir))
    return Generation{0};
  auto facts = facts_of(config.sink);
  if (!facts) return facts.error();
  if (kind == RebuildKind::kNextGeneration && facts->several)
    return fatal("rebuild: " + std::string(kSharedRebuildAdvice));
  return facts->generation;
}

// Rows with several contributions stay so in a copy.
Result<void> copy_sharing(Rebuild& rebuild) {
  if (rebuild.kind != RebuildKind::kOtherTable) return {};
  auto source = facts_of(rebuild.source);
  if (!source) return source.error();
  rebuild.plan.several = source->several;
  return {};
}

Result<void> choose_group(Rebuild& rebuild) {
  Config& config = rebuild.config;
  auto table = generation_of(config, rebuild.kind);
  if (!table) return table.error();
  rebuild.plan.generation = *table;
  std::string group = config.kafka.group;
  if (rebuild.kind == RebuildKind::kFill) {
    group = group_of_fill(group);
  } else if (rebuild.kind == RebuildKind::kOtherTable) {
    group = group_of_other_table(group,
                                 config.sink.type == SinkType::kHbase ? config.sink.table : config.sink.dir);
  } else {
    const std::string present = group_of_generation(group, *table, *table);
    bool began = false;
    if (present != group) {
      auto committed = committed_by(config, present);
      if (!committed) return committed.error();
      began = progress_of(*committed).begun;
    }
    rebuild.live = began;
    rebuild.plan.generation = generation_to_build(*table, began);
    group = group_of_generation(group, *table, rebuild.plan.generation);
  }
  config.kafka.group = group;
  return {};
}

Result<void> look_at_log(Rebuild& rebuild) {
  auto reader = log_reader(rebuild.config, rebuild.config.kafka.group);
  if (!reader) return reader.error();
  auto bounds = bounds_of_all(**reader);
  if (!bounds) return bounds.error();
  auto committed = committed_by(**reader);
  if (!committed) return committed.error();
  rebuild.progress = progress_of(*committed);
  if (auto same = check_same_rules(rebuild.progress, rebuild.kind, rebuild.live, rebuild.config.kafka.group,
                                   semantics_fingerprint(rebuild.config));
      !same)
    return same;
  std::map<PartitionId, LogBounds> ranges;
  for (const auto& [partition, log] : *bounds) {
    LogBounds range = log;
    if (rebuild.from_time) {
      auto at = (*reader)->offset_at(partition, *rebuild.from_time);
      if (!at) return at.error();
      range.first = std::max(log.first, at->value_or(log.end));
    }
    ranges[partition] = range;
  }
  auto schemas = open_schemas(rebuild.config.reading.shape, log_line());
  if (!schemas) return schemas.error();
  auto arrivals =
      first_arrivals(**reader, ranges, rebuild.config.reading, schemas->get(), stop_was_signalled);
  if (!arrivals) return arrivals.error();
  for (const auto& [partition, range] : ranges) {
    const auto arrival = arrivals->find(partition);
    const RebuildLog log{
        bounds->at(partition), range.first,
        arrival == arrivals->end() ? std::optional<EpochMs>() : std::optional(arrival->second)};
    RebuildStart start =
        rebuild_start(log, rebuild.kind, rebuild.from_time, rebuild.config.policy, system_clock().now_ms());
    // One that has become the live service stays it.
    start.anew = rebuild.progress.finished && rebuild.kind != RebuildKind::kNextGeneration;
    rebuild.plan.starts[partition] = start;
    rebuild.records += static_cast<std::uint64_t>(range.end.value - range.first.value);
  }
  return {};
}

std::string question(const Rebuild& rebuild, const std::string& live_group) {
  HourStart whole_from = HourStart::lowest();
  for (const auto& [partition, start] : rebuild.plan.starts)
    whole_from = std::max(whole_from, start.marks.whole_from);
  const std::string hours =
      whole_from == HourStart::lowest() ? "all hours" : "all hours from " + format_utc(whole_from.ms) + " on";
  std::string text = "Reads " + grouped(rebuild.records) + " records of " +
                     std::to_string(rebuild.plan.starts.size()) + " partitions again and writes " + hours +
                     " to " + table_name(rebuild.config.sink) + ", as generation " +
                     std::to_string(rebuild.plan.generation.value) + ".\n";
  if (rebuild.kind == RebuildKind::kNextGeneration) {
    text += "Its cells outrank those of the generation before for ever. The service of group " + live_group +
            " goes on until this one takes over.\n";
  }
  return text + "State: " + rebuild.config.state.dir + "/" + path_component(rebuild.config.kafka.group) +
         ", offsets: group " + rebuild.config.kafka.group + ".\n";
}

// Nothing is asked of a rebuild that only goes on.
Result<void> ask(const Rebuild& rebuild, const std::string& live_group, bool yes) {
  if (yes || (rebuild.progress.begun && !rebuild.progress.finished)) return {};
  const std::string text = question(rebuild, live_group);
  if (::isatty(STDIN_FILENO) != 1) {
    return refused("rebuild: say --yes to begin. It\n" + text);
  }
  std::fprintf(stderr, "%sBegin? [y/N] ", text.c_str());
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return {};
  return refused("rebuild: not begun");
}

// Draws between the lines of the log, which come from several threads.
class RebuildScreen {
 public:
  LogLine log() {
    return [this, inner = log_line()](char level, const std::string& text) {
      const std::lock_guard lock(mutex_);
      line_.end();
      inner(level, text);
    };
  }

  void show(const Service& service) {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::milliseconds(200) || service.rebuild_done()) return;
    shown_ = now;
    std::uint64_t next = 0;
    std::uint64_t end = 0;
    for (const auto& partition : service.status().partitions) {
      if (!partition.rebuild_end) continue;
      end += static_cast<std::uint64_t>(*partition.rebuild_end);
      next += static_cast<std::uint64_t>(std::min(partition.next_offset, *partition.rebuild_end));
    }
    if (end == 0) return;
    const CounterTotals totals = service.totals();
    const std::lock_guard lock(mutex_);
    const Phase phase = next < end ? Phase::kReading : Phase::kWriting;
    if (phase != phase_ && phase == Phase::kReading) line_.begin("reading the topic", "records", end, next);
    // How many rows there will be is known only of those that this process has opened.
    if (phase != phase_ && phase == Phase::kWriting)
      line_.begin("writing rows", "rows", totals.windows_opened, totals.rows_put);
    phase_ = phase;
    line_.show(phase == Phase::kReading ? next : totals.rows_put);
  }

 private:
  enum class Phase : unsigned char { kBefore, kReading, kWriting };
  std::mutex mutex_;
  ProgressLine line_;
  Phase phase_ = Phase::kBefore;
  std::chrono::steady_clock::time_point shown_;
};

// What was only for this rebuild. Another table's is kept: a service of the group can go on with it.
void clean_up(const Rebuild& rebuild) {
  std::error_code ignored;
  if (rebuild.kind == RebuildKind::kFill)
    fs::remove_all(fs::path(rebuild.config.state.dir) / path_component(rebuild.config.kafka.group), ignored);
}

int run(Rebuild& rebuild, const std::string& live_group, bool yes) {
  RebuildScreen screen;
  const LogLine log = screen.log();
  const StartupWait wait{system_clock(), rebuild.config.startup_timeout_ms, log, stop_was_signalled};
  auto chosen = until_ready(wait, "the table and the topic", [&] { return choose_group(rebuild); });
  if (!chosen) return fail(chosen.error());
  auto copied = until_ready(wait, "the table", [&] { return copy_sharing(rebuild); });
  if (!copied) return fail(copied.error());
  auto looked = until_ready(wait, "the topic", [&] { return look_at_log(rebuild); });
  if (!looked) return fail(looked.error());
  if (auto answered = ask(rebuild, live_group, yes); !answered) return fail(answered.error());
  if (rebuild.progress.begun && !rebuild.progress.finished)
    log('i', "goes on with the rebuild that group " + rebuild.config.kafka.group + " began");
  auto parts = assemble(rebuild.config, system_clock(), log);
  if (!parts) return fail(parts.error());
  const bool follow = rebuild.plan.follow;
  if (!follow) parts->side = std::make_unique<NoSideOutputs>();
  parts->rebuild = std::move(rebuild.plan);
  parts->on_turn = [&](const Service& service) { screen.show(service); };
  const int code = run_service("rebuild", std::move(*parts), HttpAddress::kIfFree);
  if (code != kExitDone || follow) return code;
  clean_up(rebuild);
  std::printf("rebuilt %s up to the end that the topic had at the start\n",
              table_name(rebuild.config.sink).c_str());
  return code;
}

Result<std::optional<EpochMs>> parse_from(const std::string& from, const Config& config) {
  if (from.empty() || from == "earliest") return std::optional<EpochMs>();
  auto time = parse_named_time(from, system_clock().now_ms());
  if (!time) return refused("--from: " + time.error().message + ", or earliest");
  if (config.reading.shape.arrival != "record")
    return refused(
        "--from TIME seeks by the timestamps of the records, and reading.arrival is a field of the payload: "
        "rebuild from earliest");
  return std::optional(time->begin);
}

}  // namespace

int rebuild_command(const RebuildOptions& options) {
  if (!set_log_level(options.log_level))
    return fail(refused("--log-level " + options.log_level + ": no such level"));
  if (options.follow && !options.into.empty()) {
    return fail(
        refused("--follow takes over the table of the configuration and --into writes another one: give "
                "one of them"));
  }
  auto config = load_config(options.config, NeedsKafka::kYes);
  if (!config) return kExitUsage;
  auto from = parse_from(options.from, *config);
  if (!from) return fail(from.error());
  Rebuild rebuild;
  rebuild.kind = options.follow         ? RebuildKind::kNextGeneration
                 : options.into.empty() ? RebuildKind::kFill
                                        : RebuildKind::kOtherTable;
  rebuild.from_time = *from;
  rebuild.plan.follow = options.follow;
  rebuild.config = *config;
  rebuild.source = config->sink;
  std::string& target =
      config->sink.type == SinkType::kHbase ? rebuild.config.sink.table : rebuild.config.sink.dir;
  if (!options.into.empty() && options.into == target)
    return fail(refused("--into " + options.into + " is the table of the configuration itself"));
  if (!options.into.empty()) target = options.into;
  catch_stop_signals();
  return run(rebuild, config->kafka.group, options.yes);
}

}  // namespace hourfold
