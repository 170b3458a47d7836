// Every rule of docs/ARCHITECTURE.md, "Recovery", about where a worker goes on.
#include "pipeline/start_plan.h"

#include <doctest/doctest.h>

#include <string>

using namespace hourfold;

namespace {

constexpr HourStart kHour{1'767'222'000'000};

StartFacts facts() {
  StartFacts facts;
  facts.topic = "telemetry";
  facts.partition = {3};
  facts.partition_count = 8;
  facts.log = {{100}, {1'000}};
  facts.fingerprint = "00112233aabbccdd";
  return facts;
}

CommittedOffset committed(std::int64_t offset, HourStart hour = kHour) {
  CommitMetadata metadata;
  metadata.highest_hour = hour;
  metadata.partition_count = 8;
  metadata.last_folded = FoldedRecord{{offset - 1}, 77};
  metadata.fingerprint = "00112233aabbccdd";
  return {{offset}, write_commit_metadata(metadata)};
}

StateMarks disk(std::int64_t offset) {
  StateMarks marks;
  marks.next_offset = {offset};
  marks.look_below = {kHour.ms - 5 * kHourMs};
  marks.expire_below = {kHour.ms - 4 * kHourMs};
  marks.hours = HourTrack(kHour);
  marks.partition_count = 8;
  marks.fingerprint = "00112233aabbccdd";
  return marks;
}

bool mentions(const Error& error, const std::string& text) {
  return error.message.find(text) != std::string::npos;
}

bool noticed(const StartPlan& plan, const std::string& text) {
  for (const std::string& notice : plan.notices) {
    if (notice.find(text) != std::string::npos) return true;
  }
  return false;
}

StartPlan must(const StartFacts& given) {
  auto plan = plan_start(given);
  if (!plan) FAIL(plan.error().message);
  return *plan;
}

}  // namespace

TEST_CASE("first start into an empty table: from the earliest, nothing to look up, committed at once") {
  StartFacts given = facts();
  given.table_empty = true;
  const StartPlan plan = must(given);
  CHECK(plan.state == StartPlan::State::kFresh);
  CHECK(plan.marks.next_offset == Offset{100});
  CHECK(plan.marks.look_below == HourStart::lowest());
  CHECK(plan.floor == Offset{100});
  REQUIRE(plan.commit_first);
  CHECK(plan.commit_first->next == Offset{100});
  CHECK(plan.commit_first->metadata == "hourfold/1 hour=none partitions=8 rules=00112233aabbccdd .");
}

TEST_CASE("first start into a table that has rows: everything is looked up, and later commits say so") {
  const StartPlan plan = must(facts());
  CHECK(plan.marks.look_below == HourStart::highest());
  CHECK(plan.marks.hours.highest() == HourStart::highest());
  REQUIRE(plan.commit_first);
  CHECK(read_commit_metadata(plan.commit_first->metadata).highest_hour == HourStart::highest());
  CHECK(noticed(plan, "not empty"));
}

TEST_CASE("with the disk: from the state's offset, with its marks") {
  StartFacts given = facts();
  given.disk = disk(500);
  for (const std::int64_t c : {0, 300, 500, 900}) {  // 0: no commit
    given.committed = c == 0 ? std::nullopt : std::optional(committed(c));
    const StartPlan plan = must(given);
    CAPTURE(c);
    CHECK(plan.state == StartPlan::State::kKeep);
    CHECK(plan.marks.next_offset == Offset{500});
    CHECK(plan.marks.look_below == disk(500).look_below);
    CHECK(plan.marks.hours.highest() == kHour);
    CHECK_FALSE(plan.forget_windows);
    CHECK_FALSE(plan.commit_first);
    CHECK(plan.floor == (c == 0 ? std::nullopt : std::optional(Offset{c})));
  }
}

TEST_CASE("without the disk: from the committed offset, looked up at and below its highest hour") {
  StartFacts given = facts();
  given.committed = committed(300);
  const StartPlan plan = must(given);
  CHECK(plan.state == StartPlan::State::kFresh);
  CHECK(plan.marks.next_offset == Offset{300});
  CHECK(plan.marks.look_below == kHour);
  CHECK(plan.marks.hours.before({300}) == kHour);
  CHECK(plan.marks.last_folded == FoldedRecord{{299}, 77});
  CHECK(plan.floor == Offset{300});
  CHECK_FALSE(plan.commit_first);
}

TEST_CASE("without metadata everything is looked up, for as long as the generation lasts") {
  for (const char* text : {"", "of another program", "hourfold/1 hour=1767222000000 parti"}) {
    StartFacts given = facts();
    given.committed = CommittedOffset{{300}, text};
    const StartPlan plan = must(given);
    CHECK(plan.marks.look_below == HourStart::highest());
    StateMarks later = plan.marks;
    later.hours.accept({400}, kHour);
    CHECK(later.hours.before({500}) == HourStart::highest());
    CHECK(noticed(plan, "looked up"));
  }
}

TEST_CASE("a disk far behind the committed offset is set aside, if the committed offset is in the log") {
  StartFacts given = facts();
  given.log = {{0}, {9'000'000}};
  given.disk = disk(10);
  given.committed = committed(10 + kMaxReplayRecords);
  CHECK(must(given).state == StartPlan::State::kKeep);
  given.committed = committed(11 + kMaxReplayRecords);
  const StartPlan plan = must(given);
  CHECK(plan.state == StartPlan::State::kSetAside);
  CHECK(plan.marks.next_offset == Offset{11 + kMaxReplayRecords});
  CHECK(plan.marks.look_below == kHour);
  CHECK(noticed(plan, "set aside"));
}

TEST_CASE("a disk whose offset is no longer in the log gives way to the committed offset") {
  StartFacts given = facts();
  given.disk = disk(99);
  given.committed = committed(100);
  const StartPlan plan = must(given);
  CHECK(plan.state == StartPlan::State::kSetAside);
  CHECK(plan.marks.next_offset == Offset{100});
}

TEST_CASE("case 22: a gap stops the partition with the range, or is recorded") {
  struct Case {
    const char* name;
    std::optional<std::int64_t> stored;
    std::optional<std::int64_t> c;
    std::int64_t from;
    StartPlan::State state;
  };
  using State = StartPlan::State;
  const Case cases[] = {
      {"no disk", std::nullopt, 50, 50, State::kFresh},
      {"a disk further on", 60, 50, 60, State::kKeep},
      {"a disk behind", 40, 50, 50, State::kSetAside},
      {"a disk and no commit", 40, std::nullopt, 40, State::kKeep},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    StartFacts given = facts();
    if (c.stored) given.disk = disk(*c.stored);
    if (c.c) given.committed = committed(*c.c);
    const auto refused = plan_start(given);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::kFatal);
    CHECK(mentions(refused.error(), "offsets " + std::to_string(c.from) + " to 99"));
    CHECK(mentions(refused.error(), "on_gap"));
    given.on_gap = OnGap::kContinue;
    const StartPlan plan = must(given);
    CHECK(plan.state == c.state);
    CHECK(plan.marks.next_offset == Offset{100});
    CHECK(plan.marks.look_below == HourStart::highest());
    CHECK(plan.marks.hours.highest() == HourStart::highest());
    CHECK(plan.forget_windows);
    CHECK(plan.marks.lost == std::vector<LostRange>{{{c.from}, {100}}});
    CHECK(noticed(plan, "LOST"));
  }
}

TEST_CASE("offsets beyond the end of the log: the topic was created again") {
  StartFacts given = facts();
  given.committed = committed(1'001);
  auto plan = plan_start(given);
  REQUIRE_FALSE(plan);
  CHECK(mentions(plan.error(), "1001"));
  CHECK(mentions(plan.error(), "created again"));
  given.committed = committed(1'000);
  CHECK(plan_start(given));
  given.disk = disk(1'001);
  plan = plan_start(given);
  REQUIRE_FALSE(plan);
  CHECK(mentions(plan.error(), "the state"));
}

TEST_CASE("a topic that has grown is noticed, one that has lost partitions refused") {
  StartFacts given = facts();
  given.partition_count = 9;
  given.committed = committed(300);
  auto plan = plan_start(given);
  REQUIRE(plan);
  CHECK(plan->grown);
  CHECK(plan->marks.partition_count == 9);
  given.committed = CommittedOffset{{300}, ""};  // not known
  plan = plan_start(given);
  REQUIRE(plan);
  CHECK_FALSE(plan->grown);
  given.disk = disk(500);
  plan = plan_start(given);
  REQUIRE(plan);
  CHECK(plan->grown);
  given.partition_count = 7;
  plan = plan_start(given);
  REQUIRE_FALSE(plan);
  CHECK(mentions(plan.error(), "8 partitions and now has 7"));
}

TEST_CASE("a state of an older generation is set aside, one of a newer refused") {
  StartFacts given = facts();
  given.disk = disk(500);
  given.generation = {1};
  given.committed = committed(300);
  CHECK(must(given).state == StartPlan::State::kSetAside);
  CHECK(must(given).marks.next_offset == Offset{300});
  CHECK(must(given).marks.generation == Generation{1});
  // Also where nothing was committed: the group of a new generation is a new one.
  given.committed.reset();
  const StartPlan plan = must(given);
  CHECK(plan.state == StartPlan::State::kSetAside);
  CHECK(plan.marks.next_offset == Offset{100});
  CHECK(plan.commit_first);
  given.generation = {0};
  given.disk->generation = {1};
  CHECK_FALSE(plan_start(given));
}

TEST_CASE("a changed configuration is recorded with its offset, and folding goes on") {
  StartFacts given = facts();
  given.fingerprint = "ffffffffffffffff";
  given.committed = committed(300);
  StartPlan plan = must(given);
  CHECK(plan.marks.fingerprint == "ffffffffffffffff");
  REQUIRE(plan.marks.fingerprint_changes.size() == 1);
  CHECK(plan.marks.fingerprint_changes[0].first == Offset{300});
  CHECK(noticed(plan, "changed"));
  given.disk = disk(500);
  plan = must(given);
  REQUIRE(plan.marks.fingerprint_changes.size() == 1);
  CHECK(plan.marks.fingerprint_changes[0].first == Offset{500});
  given.fingerprint = "00112233aabbccdd";
  CHECK(must(given).marks.fingerprint_changes.empty());
}

TEST_CASE("a rebuild begins with what is not wholly in the log looked up, committed at once") {
  StartFacts given = facts();
  given.generation = {1};
  RebuildStart& rebuild = given.rebuild.emplace();
  rebuild.from = {100};
  rebuild.marks.end = {1'000};
  rebuild.marks.whole_from = kHour;
  const StartPlan plan = must(given);
  CHECK(plan.marks.next_offset == Offset{100});
  CHECK(plan.marks.look_below.ms == kHour.ms - kHourMs);
  CHECK(plan.marks.rebuild == rebuild.marks);
  CHECK(plan.marks.generation == Generation{1});
  CHECK(plan.floor == Offset{100});
  REQUIRE(plan.commit_first);
  const CommitMetadata metadata = read_commit_metadata(plan.commit_first->metadata);
  CHECK(metadata.highest_hour.ms == kHour.ms - kHourMs);
  CHECK(metadata.rebuild == rebuild.marks);
  CHECK(noticed(plan, "to offset 1000"));
  rebuild.marks.whole_from = HourStart::lowest();
  CHECK(must(given).marks.look_below == HourStart::lowest());
}

TEST_CASE("a rebuild goes on with the end that it began with, with and without the disk") {
  StartFacts given = facts();
  given.rebuild.emplace().marks.end = {1'000};
  CommitMetadata metadata;
  metadata.highest_hour = kHour;
  metadata.partition_count = 8;
  metadata.fingerprint = given.fingerprint;
  metadata.rebuild.emplace().end = {700};
  metadata.rebuild->whole_from = kHour;
  given.committed = CommittedOffset{{300}, write_commit_metadata(metadata)};
  StartPlan plan = must(given);
  CHECK(plan.marks.next_offset == Offset{300});
  CHECK(plan.marks.rebuild == metadata.rebuild);
  CHECK_FALSE(plan.commit_first);
  given.disk = disk(500);
  given.disk->rebuild = metadata.rebuild;
  given.disk->rebuild->held[kHour] = {300};
  plan = must(given);
  CHECK(plan.state == StartPlan::State::kKeep);
  CHECK(plan.marks.rebuild == given.disk->rebuild);

  SUBCASE("anew: what an earlier one left does not count") {
    given.rebuild->anew = true;
    given.rebuild->from = {100};
    plan = must(given);
    CHECK(plan.state == StartPlan::State::kSetAside);
    CHECK(plan.marks.next_offset == Offset{100});
    CHECK(plan.marks.rebuild == given.rebuild->marks);
    CHECK(plan.floor == Offset{100});
    given.disk.reset();
    CHECK(must(given).state == StartPlan::State::kFresh);
  }
  SUBCASE("what it was to read again has left the log: it begins with the rest") {
    given.log.first = {600};
    given.rebuild->from = {600};
    plan = must(given);
    CHECK(plan.marks.next_offset == Offset{600});
    CHECK(plan.marks.rebuild == given.rebuild->marks);
    REQUIRE(plan.commit_first);
    CHECK(plan.marks.lost.empty());
  }
  SUBCASE("a service does not go on with a rebuild that is not finished") {
    given.rebuild.reset();
    const auto refused = plan_start(given);
    REQUIRE_FALSE(refused);
    CHECK(mentions(refused.error(), "500 of 700"));
    CHECK(mentions(refused.error(), "hourfold rebuild"));
    given.disk->next_offset = {700};
    CHECK(must(given).marks.rebuild);
  }
}
