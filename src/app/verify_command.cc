#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "app/assemble.h"
#include "app/commands.h"
#include "app/load_config.h"
#include "app/log_facts.h"
#include "app/open_schemas.h"
#include "app/open_table.h"
#include "app/output.h"
#include "app/progress_line.h"
#include "app/run_service.h"
#include "app/startup_wait.h"
#include "app/table_facts.h"
#include "app/verify_report.h"
#include "core/whole_hours.h"
#include "state/rocksdb_store.h"
#include "state/state_dir.h"

namespace hourfold {
namespace {

namespace fs = std::filesystem;

int fail(const Error& error) {
  print_error(error.message);
  return error.kind == ErrorKind::kRefused ? kExitUsage : kExitService;
}

// Where windows are spilled; gone with everything in it at the end.
class Scratch {
 public:
  static Result<Scratch> make(const std::string& parent) {
    const fs::path base = parent.empty() ? fs::temp_directory_path() : fs::path(parent);
    std::error_code error;
    fs::create_directories(base, error);
    std::string path = (base / "hourfold-verify-XXXXXX").string();
    if (error || ::mkdtemp(path.data()) == nullptr)
      return refused("--scratch: " + base.string() + " cannot be written");
    return Scratch(std::move(path));
  }
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What the service that keeps the table has said of a partition.
struct Known {
  std::optional<CommittedOffset> committed;
  std::optional<RebuildMarks> rebuild;
  std::optional<Offset> rules_since;  // the present rules hold from here on
};

class Verification {
 public:
  Verification(const VerifyOptions& options, const Config& config, HourRange hours)
      : options_(options), config_(config), progress_(options.quiet) {
    scope_.topic = config.kafka.topics.front();
    scope_.hours = hours;
    scope_.devices = DeviceFilter(options.devices);
  }

  Result<int> run(VerifyReport& report);

 private:
  Result<void> look_at_table();
  Result<void> connect();
  Result<void> look_at_log();
  Result<Known> ask(PartitionId partition);
  Result<void> check_rules(PartitionId partition, const std::string& rules) const;
  Result<void> bound(PartitionId partition, LogBounds log, const Known& known);
  Result<void> recompute(Recomputation& recomputation);
  Result<void> compare(Recomputation& recomputation, VerifyReport& report);
  Result<std::unique_ptr<RollupTable>> open() const {
    return open_table(config_.sink, TableAccess::kReadOnly, {}, {});
  }
  StartupWait wait() const {
    return {system_clock(), config_.startup_timeout_ms,
            [](char, const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); },
            stop_was_signalled};
  }
  void drop_other_devices(RecordBatch& batch) const;

  const VerifyOptions& options_;
  const Config& config_;
  ProgressLine progress_;
  std::unique_ptr<AvroSchemas> schemas_;
  std::unique_ptr<LogReader> reader_;
  VerifyScope scope_;
  std::map<PartitionId, LogBounds> ranges_;
  VerifySummary summary_;
};

Result<void> Verification::look_at_table() {
  std::vector<std::string> notes;  // of lifetimes: `table check` tells them
  auto spec = table_spec(config_, notes);
  if (!spec) return spec.error();
  auto table = open();
  if (!table) return table.error();
  auto meta = read_table_meta(**table);
  if (!meta) return meta.error();
  scope_.table = *meta;
  auto facts = read_table_facts(**table);
  if (!facts) return facts.error();
  scope_.generation = facts->generation;
  scope_.several = facts->several;
  if (config_.sink.type == SinkType::kEmbedded) return {};
  // An hour more, as cells go on expiring while they are read.
  const auto expired = [](const std::optional<std::int64_t>& ttl_s) {
    if (!ttl_s) return HourStart::lowest();
    return HourStart{HourStart::of(system_clock().now_ms() - *ttl_s * 1000).ms + 2 * kHourMs};
  };
  scope_.expires_before = expired(spec->rollup_ttl_s);
  scope_.contributions_expire_before = expired(spec->contribution_ttl_s);
  return {};
}

Result<void> Verification::check_rules(PartitionId partition, const std::string& rules) const {
  const std::string own = semantics_fingerprint(config_);
  if (rules.empty() || rules == own) return {};
  return refused("partition " + std::to_string(partition.value) + " is folded under the rules " + rules +
                 " by group " + config_.kafka.group + ", this configuration has the rules " + own +
                 " (\"reading\" and \"policy\"): give the configuration that the service runs with");
}

Result<Known> Verification::ask(PartitionId partition) {
  Known known;
  auto committed = reader_->committed(partition);
  if (!committed) return committed.error();
  known.committed = *committed;
  if (known.committed) {
    const CommitMetadata metadata = read_commit_metadata(known.committed->metadata);
    known.rebuild = metadata.rebuild;
    if (auto same = check_rules(partition, metadata.fingerprint); !same) return same.error();
  }
  // Changes of the rules are written down in the state alone, which may be on this host or not.
  const std::string dir = partition_dir(config_.state.dir, config_.kafka.group, scope_.topic, partition);
  if (!state_dir_exists(dir)) return known;
  auto store = open_rocksdb_store_for_reading(dir);
  if (!store) return known;
  auto text = (*store)->marks();
  if (!text || !*text) return known;
  auto marks = read_state_marks(**text);
  if (!marks) return known;
  if (!known.committed) {
    if (auto same = check_rules(partition, marks->fingerprint); !same) return same.error();
  }
  if (!marks->fingerprint_changes.empty() &&
      marks->fingerprint_changes.back().second == semantics_fingerprint(config_))
    known.rules_since = marks->fingerprint_changes.back().first;
  return known;
}

// The range that is read again: it ends where the table is sure to have everything, and begins where the
// first selected hour can have its first reading.
Result<void> Verification::bound(PartitionId partition, LogBounds log, const Known& known) {
  LogBounds range = log;
  if (known.committed) {
    if (known.committed->next > log.end) {
      return fatal("partition " + std::to_string(partition.value) + ": the committed offset is at " +
                   std::to_string(known.committed->next.value) + ", but the log ends at " +
                   std::to_string(log.end.value) + ": the topic was deleted and created again");
    }
    range.end = std::max(range.first, known.committed->next);
  }
  summary_.behind += static_cast<std::uint64_t>(log.end.value - range.end.value);
  if (known.rules_since) range.first = std::min(range.end, std::max(range.first, *known.rules_since));
  if (scope_.hours.from > HourStart{0} && config_.reading.shape.arrival == "record") {
    auto at = reader_->offset_at(partition, scope_.hours.from.ms - config_.policy.max_future_ms);
    if (!at) return at.error();
    range.first = std::max(range.first, std::min(range.end, at->value_or(range.end)));
  }
  scope_.partitions[partition].log = range;
  ranges_[partition] = range;
  return {};
}

Result<void> Verification::connect() {
  auto reader = LogReader::create(
      {{config_.kafka.brokers, config_.kafka.properties, nullptr}, scope_.topic, config_.kafka.group});
  if (!reader) return refused(reader.error().message);
  reader_ = std::move(*reader);
  return {};
}

Result<void> Verification::look_at_log() {
  if (auto connected = connect(); !connected) return connected;
  std::map<PartitionId, LogBounds> logs;
  auto found = until_ready(wait(), "the topic", [&]() -> Result<void> {
    auto bounds = bounds_of_all(*reader_);
    if (!bounds) return bounds.error();
    logs = std::move(*bounds);
    return {};
  });
  if (!found) return found;
  std::map<PartitionId, Known> known;
  std::map<PartitionId, LogBounds> whole;
  for (const auto& [partition, log] : logs) {
    auto answer = ask(partition);
    if (!answer) return answer.error();
    if (auto done = bound(partition, log, *answer); !done) return done;
    // Hours are whole by the first reading that is left, or the first one under the present rules.
    whole[partition] = log;
    if (answer->rules_since) whole[partition].first = std::max(log.first, *answer->rules_since);
    known.emplace(partition, std::move(*answer));
  }
  auto arrivals = first_arrivals(*reader_, whole, config_.reading, schemas_.get(), stop_was_signalled);
  if (!arrivals) return arrivals.error();
  for (auto& [partition, facts] : scope_.partitions) {
    const auto arrival = arrivals->find(partition);
    const HourStart after =
        arrival == arrivals->end() ? HourStart::highest() : first_hour_after(arrival->second, config_.policy);
    // A log that begins at its first offset has lost nothing.
    const bool begins_it = whole[partition].first == Offset{0};
    facts.whole_from = begins_it ? HourStart::lowest() : after;
    facts.rebuilt_from = after;
    facts.first_arrival_ms =
        arrival == arrivals->end() ? std::numeric_limits<EpochMs>::min() : arrival->second;
    if (const auto& rebuild = known.at(partition).rebuild)
      facts.whole_from = std::max(facts.whole_from, rebuild->whole_from);
  }
  return {};
}

// Where the key is the device, the others need not even be parsed.
void Verification::drop_other_devices(RecordBatch& batch) const {
  if (scope_.devices.takes_all() || config_.kafka.partitioning != Partitioning::kByDevice ||
      scope_.partitions.size() < 2)
    return;
  std::erase_if(batch.records,
                [&](const Record& record) { return record.key && !scope_.devices.takes(*record.key); });
}

Result<void> Verification::recompute(Recomputation& recomputation) {
  std::uint64_t total = 0;
  for (const auto& [partition, range] : ranges_)
    total += static_cast<std::uint64_t>(range.end.value - range.first.value);
  if (auto connected = connect(); !connected) return connected;
  progress_.begin("reading the topic", "records", total);
  auto read = read_all(*reader_, ranges_, stop_was_signalled, [&](const RecordBatch& given) {
    RecordBatch batch = given;
    summary_.records += batch.records.size();
    drop_other_devices(batch);
    if (auto known = wait_for_schemas(schemas_.get(), schema_ids(batch), stop_was_signalled); !known)
      return known;
    auto folded = recomputation.fold(batch);
    progress_.show(summary_.records);
    return folded;
  });
  progress_.end();
  if (!read) return read;
  auto finished = recomputation.finish();
  summary_.readings = recomputation.totals().consumed;
  return finished;
}

Result<void> Verification::compare(Recomputation& recomputation, VerifyReport& report) {
  // Opened now: an embedded table shows what it had when it was opened.
  auto table = open();
  if (!table) return table.error();
  progress_.begin("comparing the table", "rows", 0);
  VerifyComparison comparison(scope_, recomputation,
                              [&](const Difference& difference) { report.add(difference); });
  auto compared = comparison.compare(**table, [&](std::uint64_t rows) {
    progress_.show(rows, grouped(comparison.counts().differing_rows) + " differ");
    return !stop_was_signalled();
  });
  progress_.end();
  summary_.counts = comparison.counts();
  return compared;
}

Result<int> Verification::run(VerifyReport& report) {
  auto schemas = open_schemas(config_.reading.shape, [](char, const std::string& text) {
    std::fprintf(stderr, "%s\n", text.c_str());
  });
  if (!schemas) return schemas.error();
  schemas_ = std::move(*schemas);
  if (auto ready = until_ready(wait(), "the table", [&] { return look_at_table(); }); !ready)
    return ready.error();
  if (auto looked = look_at_log(); !looked) return looked.error();
  auto scratch = Scratch::make(options_.scratch);
  if (!scratch) return scratch.error();
  auto recomputation =
      Recomputation::open(config_, scratch->path(), ranges_, static_cast<std::int32_t>(ranges_.size()),
                          system_clock(), schemas_.get());
  if (!recomputation) return recomputation.error();
  if (auto read = recompute(**recomputation); !read) return read.error();
  if (auto compared = compare(**recomputation, report); !compared) return compared.error();
  if (stop_was_signalled()) return unavailable("stopped before the end: nothing can be said of the table");
  summary_.table = table_name(config_.sink);
  summary_.generation = scope_.generation;
  summary_.partitions = scope_.partitions;
  if (!report.finish(summary_)) return kExitService;
  return summary_.counts.differences() == 0 ? kExitDone : kExitCheckFailed;
}

}  // namespace

int verify_command(const VerifyOptions& options) {
  const auto config = load_config(options.config, NeedsKafka::kYes);
  if (!config) return kExitUsage;
  const auto hours = parse_range(options.from, options.to, Step::kHour, system_clock().now_ms());
  if (!hours) return fail(hours.error());
  auto report = VerifyReport::open(options.report, options.format == "json", options.max_differences);
  if (!report) return fail(report.error());
  catch_stop_signals();
  Verification verification(options, *config, *hours);
  auto code = verification.run(**report);
  return code ? *code : fail(code.error());
}

}  // namespace hourfold
