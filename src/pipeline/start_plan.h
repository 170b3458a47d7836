// Where a worker goes on when it gets a partition: from its own disk, from the committed offset with
// look-ups, or from the beginning; or why it must not. Pure: what is known comes in, the decision comes out.
//
// Source of the rules: docs/ARCHITECTURE.md, "Recovery".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/result.h"
#include "core/state_codec.h"
#include "ports/record_source.h"

namespace hourfold {

// A rebuild of a partition that begins now.
struct RebuildStart {
  Offset from;
  RebuildMarks marks;
  // An earlier rebuild of the same group came to its end: its state and offsets do not count.
  bool anew = false;
};

struct StartFacts {
  std::string topic;
  PartitionId partition;
  std::int32_t partition_count = 0;
  std::optional<StateMarks> disk;
  std::optional<CommittedOffset> committed;
  LogBounds log;
  bool table_empty = false;  // only asked where nothing else is known
  Generation generation;
  std::string fingerprint;
  OnGap on_gap = OnGap::kStop;
  std::optional<RebuildStart> rebuild;  // only of `rebuild`
};

struct StartPlan {
  enum class State {
    kKeep,      // go on with the disk
    kFresh,     // there is none
    kSetAside,  // there is one that must not be used: rename it, go on without
  };
  State state = State::kFresh;
  StateMarks marks;             // next_offset: where to read from
  std::optional<Offset> floor;  // the committed offset never goes below
  Offset log_end;               // as it was when the plan was made
  // The topic has more partitions than when the offset was committed or the state was written.
  bool grown = false;
  bool rules_changed = false;  // reading or policy are not those of all that went before, as far as is known
  // Drop all acknowledged windows of the disk: after a gap everything is looked up.
  bool forget_windows = false;
  // Commit this before the first fold.
  std::optional<CommittedOffset> commit_first;
  std::vector<std::string> notices;  // for the log, in order
};

// What an operator can do about a topic whose offsets started over.
inline constexpr std::string_view kRecreatedAdvice =
    "The topic was deleted and created again, or its log was cut. Offsets that start over would be taken for "
    "readings already counted. "
    "Use a new table, or a new kafka.group with an empty table and a new state.dir.";

// Past this many records a partition that was elsewhere is taken over from the table rather than replayed
// from its old disk.
inline constexpr std::int64_t kMaxReplayRecords = 5'000'000;

// Fatal: the partition must not be read; the message names what was found and the procedure.
Result<StartPlan> plan_start(const StartFacts& facts);

// The highest number of partitions that the commit or the state was made under; 0: neither knows. Above
// facts.partition_count that one is out of date, or the topic was created again: ask before planning.
std::int32_t partitions_noted(const StartFacts& facts);

// That a topic has not lost partitions since somebody noted their number (0: nobody did).
Result<void> check_partition_count(const std::string& topic, std::int32_t before, std::int32_t now);

}  // namespace hourfold
