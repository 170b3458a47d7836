#include "app/rebuild_plan.h"

#include <algorithm>

#include "core/whole_hours.h"

namespace hourfold {
namespace {

std::string suffix_of(Generation generation) { return ".g" + std::to_string(generation.value); }

}  // namespace

std::string group_of_generation(const std::string& group, Generation table, Generation wanted) {
  const std::string own = suffix_of(table);
  const std::string base = group.ends_with(own) ? group.substr(0, group.size() - own.size()) : group;
  return base + suffix_of(wanted);
}

std::string group_of_fill(const std::string& group) { return group + ".fill"; }

std::string group_of_other_table(const std::string& group, const std::string& table) {
  return group + ".into." + table;
}

Generation generation_to_build(Generation table, bool group_of_table_generation_began) {
  return group_of_table_generation_began ? table : Generation{table.value + 1};
}

RebuildProgress progress_of(const std::map<PartitionId, std::optional<CommittedOffset>>& committed) {
  RebuildProgress progress;
  progress.finished = !committed.empty();
  for (const auto& [partition, offset] : committed) {
    const CommitMetadata metadata = offset ? read_commit_metadata(offset->metadata) : CommitMetadata();
    progress.finished = progress.finished && metadata.rebuild && offset->next >= metadata.rebuild->end;
    if (!metadata.rebuild) continue;
    progress.begun = true;
    progress.rules = metadata.fingerprint;
  }
  return progress;
}

Result<void> check_same_rules(const RebuildProgress& progress, RebuildKind kind, bool live,
                              const std::string& group, const std::string& rules) {
  if (!progress.begun || live || progress.rules == rules) return {};
  if (progress.finished && kind == RebuildKind::kFill) return {};
  const std::string other = "group " + group + " has begun a rebuild under the rules " + progress.rules +
                            ", this configuration has the rules " + rules +
                            " (\"reading\" and \"policy\"): rows of both would lie in one generation. ";
  return refused(other +
                 (kind == RebuildKind::kOtherTable
                      ? "Write another table."
                      : "Let it finish with the configuration that it began with, then rebuild again."));
}

RebuildStart rebuild_start(const RebuildLog& log, RebuildKind kind, std::optional<EpochMs> from_time,
                           const ArrivalPolicy& policy, EpochMs now) {
  RebuildStart start;
  start.from = log.from;
  start.marks.end = log.log.end;
  start.marks.only_whole = kind != RebuildKind::kNextGeneration;
  // In an empty table nothing stands in the way of the first hours of a log that has lost nothing. In the
  // same one they may be of a topic before this one.
  if (kind == RebuildKind::kOtherTable && log.from == Offset{0}) return start;
  const EpochMs first = std::max(log.first_arrival_ms.value_or(now), from_time.value_or(0));
  start.marks.whole_from = first_hour_after(first, policy);
  return start;
}

}  // namespace hourfold
