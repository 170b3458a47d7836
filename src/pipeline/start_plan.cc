#include "pipeline/start_plan.h"

#include <algorithm>

namespace hourfold {
namespace {

std::string name_of(const StartFacts& facts) {
  return facts.topic + "/" + std::to_string(facts.partition.value);
}
std::string text(Offset offset) { return std::to_string(offset.value); }

Error recreated(const StartFacts& facts, const std::string& what, Offset offset) {
  return fatal(name_of(facts) + ": " + what + " is at offset " + text(offset) + ", but the log ends at " +
               text(facts.log.end) + ". " + std::string(kRecreatedAdvice));
}

Error gap(const StartFacts& facts, Offset from) {
  return fatal(name_of(facts) + ": offsets " + text(from) + " to " + text({facts.log.first.value - 1}) +
               " are needed and no longer in the log (it begins at " + text(facts.log.first) +
               "): readings in that range are lost to the rollups. Lengthen the topic's retention; to go on "
               "without them and have the "
               "range recorded, set kafka.on_gap to \"continue\".");
}

// Numbers of partitions; 0: not known.
std::int32_t committed_under(const StartFacts& facts) {
  return facts.committed ? read_commit_metadata(facts.committed->metadata).partition_count : 0;
}

std::int32_t stored_under(const StartFacts& facts) { return facts.disk ? facts.disk->partition_count : 0; }

bool in_log(const StartFacts& facts, Offset offset) {
  return offset >= facts.log.first && offset <= facts.log.end;
}

// Knowledge that comes with the committed offset.
StartPlan take_over(const StartFacts& facts, StartPlan::State state) {
  const CommitMetadata metadata = read_commit_metadata(facts.committed->metadata);
  StartPlan plan;
  plan.state = state;
  plan.marks.next_offset = facts.committed->next;
  plan.marks.look_below = metadata.highest_hour;
  plan.marks.hours = HourTrack(metadata.highest_hour);
  plan.marks.last_folded = metadata.last_folded;
  plan.marks.fingerprint = metadata.fingerprint;
  plan.marks.rebuild = metadata.rebuild;
  plan.notices.push_back(name_of(facts) + ": takes over at the committed offset " +
                         text(facts.committed->next));
  if (metadata.highest_hour == HourStart::highest()) {
    plan.notices.push_back(
        name_of(facts) +
        ": the commit says nothing about hours already written; every window is looked up first");
  }
  return plan;
}

// Nothing of our generation is in the table: only the hours that it does not replace have to be looked up.
StartPlan first_rebuild(const StartFacts& facts, StartPlan::State state) {
  const RebuildStart& rebuild = *facts.rebuild;
  StartPlan plan;
  plan.state = state;
  plan.marks.next_offset = rebuild.from;
  const HourStart whole_from = rebuild.marks.whole_from;
  const HourStart known = whole_from == HourStart::lowest() ? whole_from : HourStart{whole_from.ms - kHourMs};
  plan.marks.look_below = known;
  plan.marks.hours = HourTrack(known);
  plan.marks.rebuild = rebuild.marks;
  plan.notices.push_back(name_of(facts) + ": rebuilds from offset " + text(rebuild.from) +
                         "; writes nothing before it has read to offset " + text(rebuild.marks.end));
  CommitMetadata metadata;
  metadata.highest_hour = known;
  metadata.partition_count = facts.partition_count;
  metadata.fingerprint = facts.fingerprint;
  metadata.rebuild = rebuild.marks;
  plan.commit_first = CommittedOffset{rebuild.from, write_commit_metadata(metadata)};
  return plan;
}

StartPlan first_start(const StartFacts& facts, StartPlan::State state) {
  if (facts.rebuild) return first_rebuild(facts, state);
  StartPlan plan;
  plan.state = state;
  plan.marks.next_offset = facts.log.first;
  const HourStart known = facts.table_empty ? HourStart::lowest() : HourStart::highest();
  plan.marks.look_below = known;
  plan.marks.hours = HourTrack(known);
  plan.notices.push_back(
      name_of(facts) + ": first start, from the earliest offset " + text(facts.log.first) +
      (facts.table_empty ? "" : "; the table is not empty, so every window is looked up first"));
  CommitMetadata metadata;
  metadata.highest_hour = known;
  metadata.partition_count = facts.partition_count;
  metadata.fingerprint = facts.fingerprint;
  plan.commit_first = CommittedOffset{facts.log.first, write_commit_metadata(metadata)};
  return plan;
}

Result<StartPlan> over_gap(const StartFacts& facts, Offset from, StartPlan plan) {
  // What it was about to read again has left the log: it begins with what is left.
  if (facts.rebuild) return first_start(facts, StartPlan::State::kSetAside);
  if (facts.on_gap == OnGap::kStop) return gap(facts, from);
  plan.marks.next_offset = facts.log.first;
  plan.marks.look_below = HourStart::highest();
  plan.marks.hours = HourTrack(HourStart::highest());
  plan.marks.lost.push_back({from, facts.log.first});
  plan.forget_windows = true;
  plan.notices.push_back(name_of(facts) + ": LOST: offsets " + text(from) + " to " +
                         text({facts.log.first.value - 1}) + " are no longer in the log; going on from " +
                         text(facts.log.first) +
                         " as kafka.on_gap says, and every window is looked up first");
  return plan;
}

StartPlan from_disk(const StartFacts& facts) {
  StartPlan plan;
  plan.state = StartPlan::State::kKeep;
  plan.marks = *facts.disk;
  plan.notices.push_back(name_of(facts) + ": goes on from its state at offset " +
                         text(facts.disk->next_offset));
  return plan;
}

Result<StartPlan> without_disk(const StartFacts& facts, StartPlan::State state) {
  if (!facts.committed) return first_start(facts, state);
  StartPlan plan = take_over(facts, state);
  if (facts.committed->next < facts.log.first) return over_gap(facts, facts.committed->next, std::move(plan));
  return plan;
}

Result<StartPlan> choose(const StartFacts& facts) {
  if (facts.rebuild && facts.rebuild->anew)
    return first_start(facts, facts.disk ? StartPlan::State::kSetAside : StartPlan::State::kFresh);
  if (facts.committed && facts.committed->next > facts.log.end) {
    return recreated(facts, "the committed offset", facts.committed->next);
  }
  if (!facts.disk) return without_disk(facts, StartPlan::State::kFresh);
  const Offset stored = facts.disk->next_offset;
  if (facts.disk->generation < facts.generation) {
    auto plan = without_disk(facts, StartPlan::State::kSetAside);
    if (plan)
      plan->notices.insert(plan->notices.begin(),
                           name_of(facts) + ": its state is of an older generation and is set aside");
    return plan;
  }
  if (facts.disk->generation > facts.generation) {
    return fatal(name_of(facts) + ": its state is of generation " +
                 std::to_string(facts.disk->generation.value) + ", the table of the older generation " +
                 std::to_string(facts.generation.value) +
                 ". This state belongs to another table; give this service a state.dir of its own.");
  }
  if (stored > facts.log.end) return recreated(facts, "the state", stored);
  if (in_log(facts, stored)) {
    const bool far_behind = facts.committed && facts.committed->next.value - stored.value > kMaxReplayRecords;
    if (!far_behind) return from_disk(facts);
  }
  if (facts.committed && in_log(facts, facts.committed->next)) {
    auto plan = without_disk(facts, StartPlan::State::kSetAside);
    plan->notices.insert(plan->notices.begin(), name_of(facts) + ": its state stands at offset " +
                                                    text(stored) +
                                                    ", far behind the committed offset, and is set aside");
    return plan;
  }
  // The log has lost what both need. What is pending on the disk was read, and stays.
  if (facts.committed && facts.committed->next > stored)
    return without_disk(facts, StartPlan::State::kSetAside);
  return over_gap(facts, stored, from_disk(facts));
}

}  // namespace

Result<void> check_partition_count(const std::string& topic, std::int32_t before, std::int32_t now) {
  if (before <= now) return {};
  return fatal("topic " + topic + " had " + std::to_string(before) + " partitions and now has " +
               std::to_string(now) + ". " + std::string(kRecreatedAdvice));
}

std::int32_t partitions_noted(const StartFacts& facts) {
  return std::max(committed_under(facts), stored_under(facts));
}

Result<StartPlan> plan_start(const StartFacts& facts) {
  if (auto fine = check_partition_count(facts.topic, partitions_noted(facts), facts.partition_count); !fine)
    return fine.error();
  const auto fewer = [&](std::int32_t noted) { return noted != 0 && noted < facts.partition_count; };
  const bool grown = fewer(committed_under(facts)) || fewer(stored_under(facts));
  auto plan = choose(facts);
  if (!plan) return plan;
  plan->grown = grown;
  if (const auto& rebuild = plan->marks.rebuild;
      rebuild && !facts.rebuild && plan->marks.next_offset < rebuild->end) {
    return fatal(name_of(facts) + ": this group and state belong to a rebuild that has read to offset " +
                 text(plan->marks.next_offset) + " of " + text(rebuild->end) +
                 ". Let `hourfold rebuild` finish it first: the same command again goes on where it was.");
  }
  if (facts.committed) plan->floor = facts.committed->next;
  if (plan->commit_first) plan->floor = plan->commit_first->next;
  plan->log_end = facts.log.end;
  StateMarks& marks = plan->marks;
  marks.partition_count = facts.partition_count;
  marks.generation = facts.generation;
  if (!marks.fingerprint.empty() && marks.fingerprint != facts.fingerprint) {
    marks.fingerprint_changes.emplace_back(marks.next_offset, facts.fingerprint);
    plan->notices.push_back(name_of(facts) + ": reading or policy changed: from offset " +
                            text(marks.next_offset) + " on, cells are made under rules " + facts.fingerprint +
                            ", before under " + marks.fingerprint);
  }
  plan->rules_changed = !marks.fingerprint_changes.empty();
  marks.fingerprint = facts.fingerprint;
  return plan;
}

}  // namespace hourfold
