#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>

#include "app/commands.h"
#include "app/fold_lines.h"
#include "app/line_reader.h"
#include "app/load_config.h"
#include "app/open_schemas.h"
#include "app/output.h"

namespace hourfold {
namespace {

// The first malformed line of each reason, so that a user can look at one.
class Examples {
 public:
  void note(Malformed reason, const LineReader& reader) {
    std::string& place = places_[static_cast<std::size_t>(reason)];
    if (place.empty()) place = "first: " + reader.name() + ", line " + std::to_string(reader.line_number());
  }
  const std::string& of(std::size_t reason) const { return places_[reason]; }

 private:
  std::array<std::string, static_cast<std::size_t>(Malformed::kCount)> places_;
};

Result<void> fold_file(LineReader& reader, LineFolder& folder, AvroSchemas* schemas, Examples& examples) {
  std::string_view line;
  for (;;) {
    auto more = reader.next(line);
    if (!more) return more.error();
    if (!*more) return {};
    if (const auto id = schemas == nullptr ? std::nullopt : folder.schema_id(line)) {
      if (auto known = wait_for_schemas(schemas, {&*id, 1}, [] { return false; }); !known) return known;
    }
    if (folder.fold(line) != 0) examples.note(folder.last_malformed(), reader);
  }
}

void append_json(std::string& out, const LineFolder::Row& row) {
  out += "{\"device\":";
  append_json_string(out, row.device);
  out += ",\"metric\":";
  append_json_string(out, row.metric);
  out += ",\"hour\":";
  append_number(out, row.hour.ms);
  out += ",\"min\":";
  append_json_number(out, row.rollup.min);
  out += ",\"max\":";
  append_json_number(out, row.rollup.max);
  out += ",\"sum\":";
  append_json_number(out, row.rollup.sum);
  out += ",\"count\":";
  append_number(out, row.rollup.count);
  out += "}\n";
}

void append_csv(std::string& out, const LineFolder::Row& row) {
  append_csv_field(out, row.device);
  out += ',';
  append_csv_field(out, row.metric);
  out += ',';
  append_number(out, row.hour.ms);
  for (const double value : {row.rollup.min, row.rollup.max, row.rollup.sum}) {
    out += ',';
    append_number(out, value);
  }
  out += ',';
  append_number(out, row.rollup.count);
  out += '\n';
}

bool print_rows(LineFolder& folder, bool csv) {
  TextOutput out(STDOUT_FILENO);
  if (csv) out.write("device,metric,hour,min,max,sum,count\n");
  folder.each_row([&](const LineFolder::Row& row) {
    csv ? append_csv(out.buffer(), row) : append_json(out.buffer(), row);
    out.written();
  });
  return out.finish();
}

void print_count(const std::string& name, std::uint64_t count, const std::string& remark = {}) {
  const char* const gap = remark.empty() ? "" : "   ";
  std::fprintf(stderr, "%-24s %12" PRIu64 "%s%s\n", name.c_str(), count, gap, remark.c_str());
}

void print_reason(std::string_view reason, std::uint64_t count, const std::string& remark = {}) {
  if (count != 0) print_count("    " + std::string(reason), count, remark);
}

void print_counts(const FoldCounts& counts, const Examples& examples) {
  print_count("readings", counts.readings);
  print_count("  folded", counts.folded);
  print_count("  duplicate", counts.duplicate);
  print_count("  quarantined", counts.quarantined);
  print_reason("future", counts.quarantined - counts.hour_full);
  print_reason("hour_full", counts.hour_full);
  print_count("  archived", counts.archived);
  print_count("  malformed", counts.malformed);
  for (std::size_t i = 0; i < counts.malformed_by_reason.size(); ++i) {
    print_reason(to_string(static_cast<Malformed>(i)), counts.malformed_by_reason[i], examples.of(i));
  }
  print_reason("contribution_full", counts.contribution_full);
  std::uint64_t rejected = 0;
  for (const std::uint64_t count : counts.rejected_metrics) rejected += count;
  print_count("rejected metrics", rejected);
  for (std::size_t i = 0; i < counts.rejected_metrics.size(); ++i) {
    print_reason(to_string(static_cast<MetricReject>(i)), counts.rejected_metrics[i]);
  }
  print_count("duplicate values", counts.duplicate_values);
  print_count("conflicts", counts.conflicts, counts.conflicts == 0 ? "" : "duplicates with another value");
  print_count("rows", counts.rows);
}

int usage_error(const Error& error) {
  print_error(error.message);
  return kExitUsage;
}

// A file that cannot be read is wrong use, a registry that is away is not.
int failed(const Error& error) {
  print_error(error.message);
  return error.kind == ErrorKind::kRefused ? kExitUsage : kExitService;
}

}  // namespace

int fold_command(const FoldOptions& options) {
  const auto config = load_config(options.config, NeedsKafka::kNo);
  if (!config) return kExitUsage;
  for (const std::string& part : config->reading.shape.device) {
    if (part != "key" && !part.starts_with("header:")) continue;
    print_error("fold cannot use reading.device \"" + part +
                "\": lines have neither key nor headers. Give the field, as in --set reading.device=/device");
    return kExitUsage;
  }
  std::vector<std::string> files = options.files;
  if (files.empty()) files.emplace_back("-");
  // All of them first: a mistyped name should not wait for the files before it.
  for (const std::string& file : files) {
    if (auto readable = LineReader::open(file); !readable) return usage_error(readable.error());
  }
  if (files.front() == "-" && ::isatty(STDIN_FILENO))
    std::fputs("hourfold: reading lines from the terminal, Ctrl-D ends\n", stderr);
  auto schemas =
      open_schemas(config->reading.shape, [](char, const std::string& text) { print_error(text); });
  if (!schemas) return usage_error(schemas.error());
  LineFolder folder(config->reading, config->policy, schemas->get());
  Examples examples;
  for (const std::string& file : files) {
    auto reader = LineReader::open(file);
    auto folded =
        reader ? fold_file(*reader, folder, schemas->get(), examples) : Result<void>(reader.error());
    if (!folded) return failed(folded.error());
  }
  if (!print_rows(folder, options.format == "csv")) return kExitService;
  print_counts(folder.counts(), examples);
  return kExitDone;
}

}  // namespace hourfold
