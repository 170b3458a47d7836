#include "pipeline/waiting_room.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/fake_ports.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

constexpr HourStart kHour{1'767'222'000'000};
constexpr std::size_t kRoom = 1'000;

WaitingReading reading(const std::string& device, std::int64_t offset, std::uint32_t index = 0) {
  WaitingReading out;
  out.position = {{offset}, index};
  out.device = device;
  out.event_ms = kHour.ms + 5;
  out.metrics = {{"a", 1.0}};
  return out;
}

struct Room {
  FakeSink sink;
  WorkerCounters counters;
  WaitingRoom room;

  explicit Room(WaitingRoom::Settings settings = {}) : room(named(std::move(settings)), sink, counters) {}
  static WaitingRoom::Settings named(WaitingRoom::Settings settings) {
    settings.contribution_qualifier = "t/0";
    return settings;
  }
  void add(const std::string& device, std::int64_t offset, std::uint32_t index = 0, bool persisted = false) {
    room.add({kHour, device}, reading(device, offset, index), persisted);
  }
  Result<std::vector<WaitingRoom::Found>> answer(Result<std::vector<RowLookup>> rows, EpochMs now = 0) {
    const Ticket ticket = sink.look_ups.front().ticket;
    sink.look_ups.erase(sink.look_ups.begin());
    return room.take({ticket, std::move(rows)}, now);
  }
};

std::vector<std::int64_t> offsets(const std::vector<StateChanges::Entry>& entries, bool erased) {
  std::vector<std::int64_t> out;
  for (const auto& entry : entries) {
    if (entry.value.has_value() != erased) out.push_back(entry.position.offset.value);
  }
  return out;
}

}  // namespace

TEST_CASE("readings of a window wait together and come back in position order") {
  Room room;
  room.add("d1", 5);
  room.add("d2", 6);
  room.add("d1", 6, 1);
  room.add("d1", 9);
  CHECK(room.room.waits_for(kHour, "d1"));
  CHECK_FALSE(room.room.waits_for({kHour.ms + kHourMs}, "d1"));
  CHECK_FALSE(room.room.waits_for(kHour, "d3"));
  CHECK(room.room.size() == 4);
  CHECK(room.room.lowest() == Offset{5});
  room.room.step(0, kRoom);
  REQUIRE(room.sink.look_ups.size() == 1);
  CHECK(room.sink.look_ups[0].contribution == "t/0");
  CHECK(room.sink.look_ups[0].keys ==
        std::vector<std::string>{row_key("d1", kHour, 32), row_key("d2", kHour, 32)});
  room.add("d1", 12);  // asked already: the answer is for it, too
  room.room.step(0, kRoom);
  CHECK(room.sink.look_ups.size() == 1);
  const auto found = room.answer(std::vector<RowLookup>(2));
  REQUIRE(found);
  REQUIRE(found->size() == 2);
  std::vector<std::int64_t> order;
  for (const WaitingReading& one : (*found)[0].readings) order.push_back(one.position.offset.value);
  CHECK(order == std::vector<std::int64_t>{5, 6, 9, 12});
  CHECK(room.room.empty());
  CHECK_FALSE(room.room.lowest());
}

TEST_CASE("look-ups are bounded in keys and in flight") {
  WaitingRoom::Settings settings;
  settings.max_keys = 2;
  settings.max_in_flight = 2;
  Room room(settings);
  for (int i = 0; i < 7; ++i) room.add("d" + std::to_string(i), i);
  room.room.step(0, kRoom);
  CHECK(room.room.in_flight() == 2);
  for (const auto& look_up : room.sink.look_ups) CHECK(look_up.keys.size() == 2);
  REQUIRE(room.answer(std::vector<RowLookup>(2)));
  room.room.step(0, kRoom);
  CHECK(room.room.in_flight() == 2);
  CHECK(room.counters.look_ups.get() == 6);
}

TEST_CASE("no more windows are asked for than there is room for, over all look-ups in flight") {
  WaitingRoom::Settings settings;
  settings.max_keys = 2;
  Room room(settings);
  for (int i = 0; i < 7; ++i) room.add("d" + std::to_string(i), i);
  room.room.step(0, 3);
  CHECK(room.room.asked() == 3);
  room.room.step(0, 3);
  CHECK(room.room.asked() == 3);
  REQUIRE(room.answer(std::vector<RowLookup>(2)));
  room.room.step(0, 1);
  CHECK(room.room.asked() == 1);
  REQUIRE(room.answer(unavailable("down")));
  CHECK(room.room.asked() == 0);
  room.room.step(60'000, 0);
  CHECK(room.room.asked() == 0);
  room.room.step(60'000, 2);
  CHECK(room.room.asked() == 2);
}

TEST_CASE("a look-up that failed is asked again after a pause, first come first") {
  WaitingRoom::Settings settings;
  settings.max_keys = 2;
  Room room(settings);
  for (int i = 0; i < 5; ++i) room.add("d" + std::to_string(i), i);
  room.room.step(0, kRoom);
  const auto first = room.sink.look_ups[0].keys;
  REQUIRE(room.answer(unavailable("down"), 1'000));
  CHECK(room.room.size() == 5);
  CHECK(room.room.last_error() == "down");
  room.room.step(1'049, kRoom);
  CHECK(room.sink.look_ups.size() == 1);
  room.room.step(1'100, kRoom);
  REQUIRE(room.sink.look_ups.size() == 2);
  CHECK(room.sink.look_ups[1].keys == first);
  const auto fatal_answer = room.answer(fatal("not our table"));
  CHECK_FALSE(fatal_answer);
}

TEST_CASE("a reading is written to the state once and erased once") {
  Room room;
  room.add("d1", 5);
  StateChanges first;
  room.room.collect_changes(first);
  CHECK(offsets(first.waiting, false) == std::vector<std::int64_t>{5});
  room.add("d1", 6);
  StateChanges second;
  room.room.collect_changes(second);
  CHECK(offsets(second.waiting, false) == std::vector<std::int64_t>{6});
  room.add("d1", 7);  // never seen by a checkpoint
  room.room.step(0, kRoom);
  REQUIRE(room.answer(std::vector<RowLookup>(1)));
  StateChanges third;
  room.room.collect_changes(third);
  CHECK(offsets(third.waiting, true) == std::vector<std::int64_t>{5, 6});
  CHECK(offsets(third.waiting, false).empty());
  StateChanges fourth;
  room.room.collect_changes(fourth);
  CHECK(fourth.waiting.empty());
}

TEST_CASE("a restored reading is in the state already and is erased when it has been folded") {
  Room room;
  room.add("d1", 5, 0, true);
  StateChanges changes;
  room.room.collect_changes(changes);
  CHECK(changes.waiting.empty());
  room.room.step(0, kRoom);
  REQUIRE(room.answer(std::vector<RowLookup>(1)));
  room.room.collect_changes(changes);
  CHECK(offsets(changes.waiting, true) == std::vector<std::int64_t>{5});
}

TEST_CASE("it is full by bytes, and empties") {
  WaitingRoom::Settings settings;
  settings.max_bytes = 1'000;
  Room room(settings);
  std::int64_t offset = 0;
  while (!room.room.full()) room.add("d1", offset++);
  CHECK(offset < 20);
  room.room.step(0, kRoom);
  REQUIRE(room.answer(std::vector<RowLookup>(1)));
  CHECK_FALSE(room.room.full());
}
