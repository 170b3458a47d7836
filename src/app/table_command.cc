#include <cstdio>
#include <string>

#include "app/commands.h"
#include "app/load_config.h"
#include "app/open_table.h"
#include "app/output.h"
#include "core/table_meta.h"

namespace hourfold {
namespace {

struct Target {
  TableSpec spec;
  std::unique_ptr<RollupTable> table;
  std::string name;
  std::vector<std::string> notes;
};

int fail(const Error& error) {
  print_error(error.message);
  return error.retryable() ? kExitService : kExitUsage;
}

Result<Target> open_target(const Config& config, TableAccess access,
                           std::function<void(std::string_view)> notice) {
  std::vector<std::string> notes;
  auto spec = table_spec(config, notes);
  if (!spec) return spec.error();
  auto table = open_table(config.sink, access, *spec, std::move(notice));
  if (!table) return table.error();
  return Target{*spec, std::move(*table), table_name(config.sink), std::move(notes)};
}

std::string ttl_text(std::optional<std::int64_t> seconds) {
  return seconds ? "kept " + format_duration(*seconds * 1000) + " after the hour" : "kept forever";
}

std::string contribution_ttl_text(const Config& config, const TableSpec& spec) {
  std::string text = ttl_text(spec.contribution_ttl_s);
  if (!config.sink.contribution_ttl_auto) return text;
  const std::string topic = "topic " + config.kafka.topics.front();
  return text + (spec.contribution_ttl_s ? " (retention of " + topic + " + policy.max_age + 1 day)"
                                         : " (as " + topic + " keeps everything)");
}

std::string layout_text(RowLayout layout) {
  return std::string(to_string(layout)) +
         (layout == RowLayout::kWide ? ", four cells a metric" : ", one cell a metric");
}

void print_created(const Config& config, const Target& target) {
  const TableSpec& spec = target.spec;
  std::printf("created the %s\n", target.name.c_str());
  std::printf("  layout    %s\n", layout_text(spec.layout).c_str());
  const bool hbase = config.sink.type == SinkType::kHbase;
  std::printf("  buckets   %u%s\n", spec.buckets, hbase ? ", a region each" : "");
  if (!hbase) return;
  std::printf("  family r  rollups, %s\n", ttl_text(spec.rollup_ttl_s).c_str());
  std::printf("  family s  contributions, %s\n", contribution_ttl_text(config, spec).c_str());
  std::printf("  family m  the table's own settings, kept forever\n");
  if (spec.date_tiered) std::printf("  date-tiered compaction\n");
}

}  // namespace

int table_create_command(const TableOptions& options) {
  const auto config = load_config(options.config, NeedsKafka::kNo);
  if (!config) return kExitUsage;
  std::string notices;
  const auto target = open_target(*config, TableAccess::kExisting, [&](std::string_view notice) {
    notices += "  " + std::string(notice) + "\n";
  });
  if (!target) return fail(target.error());
  if (auto created = target->table->create(target->spec); !created) {
    print_error(created.error().message);
    return kExitService;
  }
  print_created(*config, *target);
  std::fputs(notices.c_str(), stdout);
  for (const std::string& note : target->notes) std::printf("note:    %s\n", note.c_str());
  return kExitDone;
}

int table_check_command(const TableOptions& options) {
  const auto config = load_config(options.config, NeedsKafka::kNo);
  if (!config) return kExitUsage;
  const auto target = open_target(*config, TableAccess::kReadOnly, {});
  if (!target) return fail(target.error());
  const auto findings = target->table->check(target->spec);
  if (!findings) {
    print_error(findings.error().message);
    return kExitService;
  }
  std::size_t problems = 0;
  for (const std::string& note : target->notes) std::printf("note:    %s\n", note.c_str());
  for (const TableFinding& finding : *findings) {
    problems += finding.harmless ? 0 : 1;
    std::printf("%s %s\n", finding.harmless ? "note:   " : "problem:", finding.message.c_str());
  }
  if (problems == 0) {
    std::printf("the %s is as it should be\n", target->name.c_str());
    return kExitDone;
  }
  std::printf("the %s has %zu problem%s\n", target->name.c_str(), problems, problems == 1 ? "" : "s");
  return kExitCheckFailed;
}

}  // namespace hourfold
