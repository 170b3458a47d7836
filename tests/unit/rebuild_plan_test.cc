#include "app/rebuild_plan.h"

#include <doctest/doctest.h>

using namespace hourfold;

namespace {

std::optional<CommittedOffset> committed(std::int64_t next, std::optional<std::int64_t> end) {
  CommitMetadata metadata;
  metadata.highest_hour = HourStart::lowest();
  metadata.fingerprint = "00112233aabbccdd";
  if (end) metadata.rebuild.emplace().end = {*end};
  return CommittedOffset{{next}, write_commit_metadata(metadata)};
}

}  // namespace

TEST_CASE("each generation has a group of its own, named after the first") {
  CHECK(group_of_generation("hourfold", {0}, {1}) == "hourfold.g1");
  CHECK(group_of_generation("hourfold.g1", {1}, {2}) == "hourfold.g2");
  // The live service of generation 1 may have any name.
  CHECK(group_of_generation("prod", {1}, {2}) == "prod.g2");
  CHECK(group_of_generation("prod.g1", {2}, {3}) == "prod.g1.g3");
  CHECK(group_of_generation("hourfold.g1", {1}, {1}) == "hourfold.g1");
  CHECK(group_of_generation("hourfold", {1}, {1}) == "hourfold.g1");
  CHECK(group_of_fill("hourfold.g1") == "hourfold.g1.fill");
  CHECK(group_of_other_table("hourfold", "trial") == "hourfold.into.trial");
}

TEST_CASE("a rebuild that has raised the generation is the one that goes on") {
  CHECK(generation_to_build({0}, false) == Generation{1});
  CHECK(generation_to_build({1}, true) == Generation{1});
  CHECK(generation_to_build({1}, false) == Generation{2});
}

TEST_CASE("a rebuild is finished once every partition has passed its end") {
  CHECK_FALSE(progress_of({}).finished);
  CHECK_FALSE(progress_of({{{0}, std::nullopt}}).begun);
  CHECK_FALSE(progress_of({{{0}, committed(5, std::nullopt)}}).begun);
  const auto running = progress_of({{{0}, committed(5, 5)}, {{1}, committed(4, 5)}});
  CHECK(running.begun);
  CHECK_FALSE(running.finished);
  CHECK_FALSE(progress_of({{{0}, committed(5, 5)}, {{1}, std::nullopt}}).finished);
  CHECK(progress_of({{{0}, committed(5, 5)}, {{1}, committed(9, 5)}}).finished);
}

TEST_CASE("a rebuild goes on under the rules that it began with") {
  const auto running = progress_of({{{0}, committed(5, 5)}, {{1}, committed(4, 5)}});
  const auto finished = progress_of({{{0}, committed(5, 5)}});
  const std::string same = "00112233aabbccdd";
  const std::string other = "ffffffffffffffff";
  const auto check = [](const RebuildProgress& progress, RebuildKind kind, bool live,
                        const std::string& rules) {
    return check_same_rules(progress, kind, live, "g", rules).has_value();
  };
  for (const RebuildKind kind :
       {RebuildKind::kNextGeneration, RebuildKind::kFill, RebuildKind::kOtherTable}) {
    CHECK(check({}, kind, false, other));
    CHECK(check(running, kind, false, same));
    CHECK_FALSE(check(running, kind, false, other));
    CHECK(check(finished, kind, false, same));
  }
  CHECK(check(running, RebuildKind::kNextGeneration, true, other));
  CHECK(check(finished, RebuildKind::kFill, false, other));
  CHECK_FALSE(check(finished, RebuildKind::kOtherTable, false, other));
}

TEST_CASE("where a rebuild begins, ends, and which hours are whole") {
  const ArrivalPolicy policy{5 * 60'000, 29LL * 24 * kHourMs};
  const HourStart hour{1'767'222'000'000};
  const RebuildLog log{{{100}, {900}}, {100}, hour.ms + 1};
  const RebuildStart start = rebuild_start(log, RebuildKind::kNextGeneration, std::nullopt, policy, 0);
  CHECK(start.from == Offset{100});
  CHECK(start.marks.end == Offset{900});
  CHECK(start.marks.whole_from.ms == hour.ms + kHourMs);
  CHECK_FALSE(start.marks.only_whole);
  CHECK(rebuild_start(log, RebuildKind::kFill, std::nullopt, policy, 0).marks.only_whole);
  CHECK(rebuild_start(log, RebuildKind::kOtherTable, std::nullopt, policy, 0).marks.only_whole);

  SUBCASE("a log from its first offset is whole for another table only") {
    RebuildLog complete = log;
    complete.from = {0};
    CHECK(rebuild_start(complete, RebuildKind::kOtherTable, std::nullopt, policy, 0).marks.whole_from ==
          HourStart::lowest());
    CHECK(rebuild_start(complete, RebuildKind::kFill, std::nullopt, policy, 0).marks.whole_from.ms ==
          hour.ms + kHourMs);
    CHECK(
        rebuild_start(complete, RebuildKind::kNextGeneration, std::nullopt, policy, 0).marks.whole_from.ms ==
        hour.ms + kHourMs);
  }
  SUBCASE("from a time: what was passed over arrived before it") {
    const EpochMs time = hour.ms + 3 * kHourMs;
    CHECK(rebuild_start(log, RebuildKind::kFill, time, policy, 0).marks.whole_from.ms ==
          hour.ms + 4 * kHourMs);
  }
  SUBCASE("a partition without readings: the first one is still to come") {
    const RebuildLog empty{{{100}, {100}}, {100}, std::nullopt};
    CHECK(rebuild_start(empty, RebuildKind::kFill, std::nullopt, policy, hour.ms).marks.whole_from.ms ==
          hour.ms + kHourMs);
  }
}
