// Cases met in the field: restarts, handovers, sinks that fail or answer late.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/field_world.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

const std::string kOne = R"("a":1)";

void append_ones(FieldWorld& world, int from, int to) {
  for (int i = from; i < to; ++i) world.append(field_reading(kFieldHour.ms + i * 1'000, kOne));
}

// Reads so many records and sends what is due; nothing is answered.
void read_and_send(FieldWorld& world, FieldMember& member, std::size_t records) {
  world.read(member, records);
  member.worker->hurry();
  world.step(member);
}

}  // namespace

TEST_CASE("case 13: the sink fails 139 times, then works: one reading is counted once") {
  // Nothing happened; it happened and the answer was lost; now this, now that.
  for (const int lost_answers : {0, 1, 2}) {
    CAPTURE(lost_answers);
    FieldWorld world;
    world.start();
    append_ones(world, 0, 1);
    world.read(*world.member);
    world.member->worker->hurry();
    for (int failure = 0; failure < 139; ++failure) {
      world.step(*world.member, 31'000);
      REQUIRE(world.member->sink.puts.size() == 1);
      const bool landed = lost_answers == 1 || (lost_answers == 2 && failure % 3 == 0);
      if (landed) world.apply(world.member->sink.puts[0].rows);
      world.member->sink.answer_puts(landed ? unknown("the answer was lost") : unavailable("away"));
      world.step(*world.member);
      CHECK(world.member->worker->needed_from() == Offset{0});
    }
    world.step(*world.member, 31'000);
    world.settle();
    CHECK(world.cell() == Rollup{1, 1, 1, 1});
    CHECK(world.member->counters().put_unknown.get() + world.member->counters().put_unavailable.get() == 139);
  }
}

namespace {

// A history in which everything occurs that a crash could break: batches, emission of open and closed hours,
// duplicates, bad records, an hour that expires and is looked up again, checkpoints, commits.
struct History {
  FieldWorld world;
  std::vector<std::function<void()>> actions;

  History() {
    world.settings.retention_ms = 2 * kHourMs;
    const auto add = [&](EpochMs arrival, std::optional<std::string> value) {
      world.append_at(arrival, std::move(value));
    };
    const EpochMs h = kFieldHour.ms;
    const EpochMs begin = world.now;
    for (int i = 0; i < 4; ++i) add(begin, field_reading(h + i, "\"a\":0." + std::to_string(i + 1)));
    add(begin, "{");
    add(begin, field_reading(h + 1, R"("a":9)"));  // the same time, another value
    add(begin, "[" + field_reading(h + 7, kOne) + "," + field_reading(h + 8, kOne, "d2") + "]");
    add(begin + 5 * kHourMs, field_reading(h + 5 * kHourMs, kOne));
    add(begin + 5 * kHourMs, field_reading(h + kDayMs, kOne));      // from the future
    add(begin + 5 * kHourMs, field_reading(h + 9, R"("a":1e16)"));  // of an hour that has expired
    add(begin + 5 * kHourMs, field_reading(h + 10, R"("b":2)", "d2"));
    add(begin + 5 * kHourMs, field_reading(h + 11, R"("a":-1e16)"));
    add(begin + 6 * kHourMs, field_reading(h + 6 * kHourMs, R"("a":3)"));
    for (std::size_t record = 0; record < world.log.size(); ++record) {
      actions.emplace_back([this, record] {
        world.now = std::max(world.now, world.log[record].timestamp_ms);
        world.read(*world.member, 1);
      });
      actions.emplace_back([this] { world.step(*world.member, 1'000); });
      if (record % 2 == 0) actions.emplace_back([this] { world.member->worker->hurry(); });
      actions.emplace_back([this] { world.step(*world.member); });
      if (record % 3 == 1)
        actions.emplace_back([this] { REQUIRE(world.member->worker->checkpoint(world.now)); });
      if (record % 3 == 2) actions.emplace_back([this] { REQUIRE(world.member->store->sync()); });
      actions.emplace_back([this] { world.land(*world.member); });
      actions.emplace_back([this] { world.step(*world.member); });
      actions.emplace_back([this] { world.commit(*world.member); });
    }
  }
  void play(std::size_t until) {
    world.start();
    for (std::size_t i = 0; i < until; ++i) actions[i]();
  }
  std::map<std::string, SimTable::Row> finish() {
    world.settle();
    CHECK(world.sides.size() == 2);
    return world.table.rows();
  }
};

}  // namespace

TEST_CASE("case 14: kill -9 between any two steps, whatever of the disk survives: nothing is missing") {
  History undisturbed;
  undisturbed.play(undisturbed.actions.size());
  const auto wanted = undisturbed.finish();
  REQUIRE(undisturbed.world.cell("d1", kFieldHour)->count == 7);
  CHECK(undisturbed.world.cell("d1", kFieldHour)->sum == 2.0);
  // What had been sent and not answered may never land, land before the next owner starts, or after it ended.
  enum class Sent { kNever, kBefore, kAfter };
  for (std::size_t at = 0; at <= undisturbed.actions.size(); ++at) {
    for (const Sent sent : {Sent::kNever, Sent::kBefore, Sent::kAfter}) {
      for (std::size_t survivors = 0; survivors <= 3; ++survivors) {  // 3: the disk is lost
        CAPTURE(at);
        CAPTURE(static_cast<int>(sent));
        CAPTURE(survivors);
        History history;
        FieldWorld& world = history.world;
        history.play(at);
        const std::vector<FakeSink::Put> on_their_way = world.member->sink.puts;
        const auto land_them = [&] {
          for (const FakeSink::Put& put : on_their_way) world.apply(put.rows);
        };
        if (sent == Sent::kBefore) land_them();
        world.crash(survivors);
        if (survivors == 3) world.disks[0] = std::make_unique<MemoryStores>();
        world.start();
        const auto rows = history.finish();
        if (sent == Sent::kAfter) land_them();
        REQUIRE(world.findings.empty());
        REQUIRE(rows == wanted);
        REQUIRE(world.table.rows() == wanted);
      }
    }
  }
}

TEST_CASE("case 14: the sink away, the worker ended, the sink back, started again: nothing is missing") {
  for (const bool lost_disk : {false, true}) {
    FieldWorld world;
    world.start();
    append_ones(world, 0, 5);
    world.settle();
    append_ones(world, 5, 12);
    read_and_send(world, *world.member, 7);
    world.member->sink.answer_puts(unavailable("away"));
    world.step(*world.member);
    world.stop();
    CHECK(world.committed->next == Offset{5});
    if (lost_disk) world.disks[0] = std::make_unique<MemoryStores>();
    world.start();
    world.settle();
    CHECK(world.cell() == Rollup{1, 1, 12, 12});
  }
}

TEST_CASE("case 15: in 50 handovers under load the committed offset never goes back") {
  FieldWorld world;
  world.start();
  int next = 0;
  for (int handover = 0; handover < 50; ++handover) {
    append_ones(world, next, next + 7);
    next += 7;
    world.read(*world.member, static_cast<std::size_t>(3 + handover % 5));
    if (handover % 3 != 0) world.member->worker->hurry();
    world.step(*world.member, 1'000);
    if (handover % 4 != 0) world.land(*world.member);
    world.step(*world.member);
    world.commit(*world.member);  // which checks it
    if (handover % 5 == 4) {
      world.crash(static_cast<std::size_t>(handover % 2));
    } else {
      world.stop();
    }
    // Old disks come back; each of the three is far behind at times.
    world.start(static_cast<std::size_t>(handover * 7 % 3));
  }
  world.settle();
  CHECK(world.cell()->count == next);
}

TEST_CASE("case 16: what a stopped worker wrote or still writes never hides what its successor counted") {
  // The old Put lands before the successor's, between two of them, after the last, or is sent only then.
  for (const int lands : {0, 1, 2, 3}) {
    for (const bool lost_disk : {false, true}) {
      CAPTURE(lands);
      FieldWorld world;
      world.start(0);
      append_ones(world, 0, 5);
      world.read(*world.member);
      if (lands < 3) {
        world.member->worker->hurry();
        world.step(*world.member);
        REQUIRE(world.member->sink.puts.size() == 1);
      }
      const std::unique_ptr<FieldMember> stopped = std::move(world.member);
      if (lands == 0) world.land(*stopped);
      world.start(1);
      append_ones(world, 5, 7);
      world.settle();
      if (lands == 1) world.land(*stopped);
      append_ones(world, 7, 9);
      world.settle();
      if (lost_disk) world.pass(Meanwhile::kLostDisk);
      CHECK(world.cell() == Rollup{1, 1, 9, 9});
      // It goes on: what it had sent lands, what was due is sent, and it does not know better yet.
      stopped->worker->hurry();
      for (int i = 0; i < 3; ++i) {
        world.land(*stopped);
        world.step(*stopped, 40'000);
      }
      CHECK(world.cell() == Rollup{1, 1, 9, 9});
      append_ones(world, 9, 10);
      world.settle();
      CHECK(world.cell() == Rollup{1, 1, 10, 10});
    }
  }
}

TEST_CASE("case 17: a partition that goes away and comes back within the hour is counted on without a gap") {
  // Handed over with everything written, with Puts on their way, or torn away.
  for (const int leaves : {0, 1, 2}) {
    CAPTURE(leaves);
    FieldWorld world;
    const auto leave_for = [&](std::size_t other) {
      if (leaves == 0) world.settle();
      if (leaves == 1) read_and_send(world, *world.member, 3);
      if (leaves == 2) {
        world.read(*world.member, 2);
        world.crash(1);
      }
      world.stop();
      world.start(other);
    };
    std::int64_t count = 0;
    world.start(0);
    for (const std::size_t other : {1U, 0U, 1U, 0U}) {
      append_ones(world, static_cast<int>(count), static_cast<int>(count) + 4);
      count += 4;
      leave_for(other);
      if (leaves == 0) CHECK(world.cell()->count == count);
    }
    world.settle();
    CHECK(world.cell() == Rollup{1, 1, static_cast<double>(count), count});
  }
}

TEST_CASE("case 18: a Put whose answer was lost is sent again and leaves the same cell") {
  for (const bool landed : {true, false}) {
    for (const bool more : {true, false}) {  // readings that came in between
      FieldWorld world;
      world.start();
      append_ones(world, 0, 3);
      read_and_send(world, *world.member, 3);
      REQUIRE(world.member->sink.puts.size() == 1);
      if (landed) world.apply(world.member->sink.puts[0].rows);
      const auto before = world.table.rows();
      if (more) append_ones(world, 3, 4);
      if (more) world.read(*world.member);
      world.member->sink.answer_puts(unknown("cut after the request"));
      world.step(*world.member);
      CHECK(world.member->worker->needed_from() == Offset{0});
      world.settle();
      CHECK(world.cell()->count == (more ? 4 : 3));
      if (landed && !more) CHECK(world.table.rows() == before);
    }
  }
}

TEST_CASE("case 20: a sink that is busy for a minute is asked ever more rarely, and nothing is lost") {
  FieldWorld world;
  world.start();
  append_ones(world, 0, 3);
  world.read(*world.member);
  world.member->worker->hurry();
  std::vector<EpochMs> asked;
  const EpochMs busy_until = world.now + kMinuteMs;
  while (world.now < busy_until) {
    world.step(*world.member, 10);
    if (world.member->sink.puts.empty()) continue;
    asked.push_back(world.now);
    world.member->sink.answer_puts(unavailable("RegionTooBusyException"));
  }
  REQUIRE(asked.size() >= 5);
  CHECK(asked.size() <= 12);
  for (std::size_t i = 1; i + 1 < asked.size(); ++i) {
    const EpochMs ceiling = std::min<EpochMs>(30'000, 100 << (i - 1));
    CHECK(asked[i] - asked[i - 1] >= ceiling / 2);
    CHECK(asked[i] - asked[i - 1] <= ceiling + 20);
  }
  for (int i = 0; i < 4; ++i) world.step(*world.member, 31'000);
  world.settle();
  CHECK(world.cell() == Rollup{1, 1, 3, 3});
}
