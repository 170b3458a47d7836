// Golden bytes of a side record in the state; computed by an independent script from docs/FORMATS.md.
#include "pipeline/side_tracker.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/fake_ports.h"
#include "support/hex.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

SideRecord record(std::int64_t offset, std::uint32_t index = 0) {
  SideRecord out;
  out.channel = SideChannel::kQuarantine;
  out.reason = "future";
  out.detail = "why";
  out.topic = "telemetry";
  out.partition = {7};
  out.position = {{offset}, index};
  out.key = "k";
  return out;
}

constexpr const char* kRecord =
    "01 01 ac02 06 667574757265 03 776879 09 74656c656d65747279 00000007 ffffffffffffffff 01 01 6b 00 00";

struct Side {
  FakeSide output;
  WorkerCounters counters;
  SideTracker tracker{output, counters, 1, 32 << 20};

  std::vector<std::int64_t> sent() const {
    std::vector<std::int64_t> out;
    for (const SideRecord& one : output.sent) out.push_back(one.position.offset.value);
    return out;
  }
};

}  // namespace

TEST_CASE("golden bytes of a side record") {
  std::string bytes;
  append_side_record(bytes, record(301), {300});
  CHECK(hex(bytes) == hex(unhex(kRecord)));
  const auto read = read_side_record(bytes);
  REQUIRE(read);
  CHECK(read->holds == Offset{300});
  CHECK(read->record.channel == SideChannel::kQuarantine);
  CHECK(read->record.reason == "future");
  CHECK(read->record.detail == "why");
  CHECK(read->record.topic == "telemetry");
  CHECK(read->record.partition == PartitionId{7});
  CHECK(read->record.timestamp_ms == -1);
  CHECK(read->record.key == "k");
  CHECK_FALSE(read->record.value);
}

TEST_CASE("side records that are none are refused") {
  const std::string bytes = unhex(kRecord);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(read_side_record(bytes.substr(0, size)));
  CHECK_FALSE(read_side_record(bytes + "x"));
  for (const auto& [at, value] : {std::pair{0, 0}, std::pair{0, 2}, std::pair{1, 3}}) {
    std::string other = bytes;
    other[static_cast<std::size_t>(at)] = static_cast<char>(value);
    CHECK_FALSE(read_side_record(other));
  }
}

TEST_CASE("a record holds the offset until it is acknowledged") {
  Side side;
  side.tracker.add(record(5), {5});
  side.tracker.add(record(3), {2});
  CHECK(side.tracker.lowest() == Offset{2});
  CHECK(side.counters.side_unacknowledged.get() == 2);
  side.tracker.step(0);
  CHECK(side.sent() == std::vector<std::int64_t>{3, 5});
  side.tracker.step(1);
  CHECK(side.output.sent.size() == 2);  // once
  side.output.acknowledged.push_back({{3}, 0});
  side.tracker.step(2);
  CHECK(side.tracker.lowest() == Offset{5});
  side.output.acknowledged.push_back({{3}, 0});  // told twice
  side.output.acknowledged.push_back({{5}, 0});
  side.tracker.step(3);
  CHECK_FALSE(side.tracker.lowest());
  CHECK(side.tracker.size() == 0);
}

TEST_CASE("a full queue is offered the rest later, after a pause") {
  Side side;
  side.output.answer = unavailable("queue full");
  side.tracker.add(record(1), {1});
  side.tracker.step(1'000);
  CHECK(side.tracker.last_error() == "queue full");
  side.output.answer = {};
  side.tracker.step(1'049);
  CHECK(side.output.sent.empty());
  side.tracker.step(1'100);
  CHECK(side.output.sent.size() == 1);
}

TEST_CASE("a record that failed is sent again, with pauses that grow") {
  Side side;
  side.tracker.add(record(1), {1});
  EpochMs now = 1'000'000;
  side.tracker.step(now);
  EpochMs pause = 0;
  for (int i = 0; i < 12; ++i) {
    side.output.sent.clear();
    side.output.failed.push_back({{1}, 0});
    const EpochMs failed_at = now;
    while (side.output.sent.empty()) {
      side.tracker.step(now);
      now += 10;
      REQUIRE(now < failed_at + 31'000);
    }
    pause = now - failed_at;
  }
  CHECK(pause > 10'000);
  CHECK(side.tracker.lowest() == Offset{1});
  side.output.acknowledge_all();
  side.tracker.step(now);
  CHECK(side.tracker.size() == 0);
}

TEST_CASE("a record that is refused for good is counted, told and let go; the others are not touched") {
  for (const bool at_once : {false, true}) {
    Side side;
    side.tracker.add(record(1), {1});
    StateChanges first;
    side.tracker.collect_changes(first);
    if (at_once) {
      side.output.answer = refused("no");
      side.tracker.step(0);
      side.output.answer = {};
      side.tracker.add(record(2), {2});
      side.tracker.step(1);
      CHECK(side.sent() == std::vector<std::int64_t>{2});
    } else {
      side.tracker.add(record(2), {2});
      side.tracker.step(0);
      side.output.refused.push_back({{1}, 0});
      side.tracker.step(1);
      CHECK(side.sent() == std::vector<std::int64_t>{1, 2});
    }
    CHECK(side.tracker.lowest() == Offset{2});
    CHECK(side.tracker.last_error().empty());
    CHECK(side.counters.side_refused.get() == 1);
    CHECK(side.tracker.take_alarms() ==
          std::vector<std::string>{"the quarantine record of telemetry/7 offset 1 index 0 (future) is not "
                                   "written, it is refused for good: no"});
    CHECK(side.tracker.take_alarms().empty());
    StateChanges second;
    side.tracker.collect_changes(second);
    REQUIRE(second.side.size() == 2);
    CHECK(second.side[0].position == Position{{1}, 0});
    CHECK_FALSE(second.side[0].value);
  }
}

TEST_CASE("a record is in the state from one checkpoint to the one after its acknowledgement") {
  Side side;
  side.tracker.add(record(4, 2), {4});
  StateChanges first;
  side.tracker.collect_changes(first);
  REQUIRE(first.side.size() == 1);
  CHECK(first.side[0].position == Position{{4}, 2});
  REQUIRE(first.side[0].value);
  StateChanges again;
  side.tracker.collect_changes(again);
  CHECK(again.side.empty());

  Side restarted;
  REQUIRE(restarted.tracker.restore({{4}, 2}, *first.side[0].value));
  CHECK(restarted.tracker.lowest() == Offset{4});
  restarted.tracker.step(0);
  REQUIRE(restarted.output.sent.size() == 1);
  CHECK(restarted.output.sent[0].position == Position{{4}, 2});
  restarted.output.acknowledge_all();
  restarted.tracker.step(1);
  StateChanges last;
  restarted.tracker.collect_changes(last);
  REQUIRE(last.side.size() == 1);
  CHECK_FALSE(last.side[0].value);
}

TEST_CASE("it is full by bytes") {
  Side side;
  std::int64_t offset = 0;
  SideRecord large = record(0);
  large.value = std::string(1 << 20, 'x');
  while (!side.tracker.full()) {
    large.position = {{offset}, 0};
    side.tracker.add(large, {offset++});
    REQUIRE(offset < 100);
  }
  CHECK(offset > 20);
}
