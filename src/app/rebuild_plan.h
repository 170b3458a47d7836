// Which rebuild a command line asks for: of which generation, by which group, from where in the log; and
// whether it is one that has begun before.
//
// Pure but for the answers of the log, which come in.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/config.h"
#include "core/state_codec.h"
#include "pipeline/start_plan.h"

namespace hourfold {

enum class RebuildKind : std::uint8_t {
  kNextGeneration,  // over the rows of the table, beside its live service, to take over from it
  kFill,            // the generation that is there: what is missing comes back, nothing gets lower
  kOtherTable,
};

// "telemetry-service.g2" -> the group of the next generation. A group that is itself of the table's
// generation gives its suffix up: hourfold, hourfold.g1, hourfold.g2.
std::string group_of_generation(const std::string& group, Generation table, Generation wanted);
std::string group_of_fill(const std::string& group);
std::string group_of_other_table(const std::string& group, const std::string& table);

// A generation that is already the table's is meant where the group that raised it has begun: then the
// rebuild is the one that goes on as the live service. Else the next one.
Generation generation_to_build(Generation table, bool group_of_table_generation_began);

// Why a table with several contributions to a row is not rebuilt in its place.
inline constexpr std::string_view kSharedRebuildAdvice =
    "the rows of this table have several contributions (its topic has grown, or kafka.partitioning is "
    "\"any\"): rebuilt in its place, it would show halves of totals while the partitions write one after the "
    "other. Rebuild it into another table (--into) and change over to that";

// What a group has committed of every partition. finished: a rebuild of it came to its end.
struct RebuildProgress {
  bool begun = false;
  bool finished = false;
  std::string rules;  // fingerprint under which it began
};
RebuildProgress progress_of(const std::map<PartitionId, std::optional<CommittedOffset>>& committed);

// Rows that one set of rules has given can have higher revisions than those of another, and would hide them.
// live: it has taken over, and is a service whose rules may change. Refused: with what to do.
Result<void> check_same_rules(const RebuildProgress& progress, RebuildKind kind, bool live,
                              const std::string& group, const std::string& rules);

struct RebuildLog {
  LogBounds log;
  Offset from;                              // where reading begins: the first offset, or that of a time
  std::optional<EpochMs> first_arrival_ms;  // of the first reading from there on
};
// now: for a partition that has no reading, whose first one is still to come.
RebuildStart rebuild_start(const RebuildLog& log, RebuildKind kind, std::optional<EpochMs> from_time,
                           const ArrivalPolicy& policy, EpochMs now);

}  // namespace hourfold
