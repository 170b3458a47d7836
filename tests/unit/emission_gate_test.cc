#include "pipeline/emission_gate.h"

#include <doctest/doctest.h>

#include "core/whole_hours.h"

using namespace hourfold;

namespace {

HourStart hour(int n) { return {n * kHourMs}; }

RebuildMarks marks() {
  RebuildMarks marks;
  marks.end = {100};
  marks.whole_from = hour(10);
  return marks;
}

}  // namespace

TEST_CASE("an hour is whole if it begins more than max_future after the first arrival") {
  constexpr ArrivalPolicy kPolicy{5 * 60'000, 29LL * 24 * kHourMs};
  const EpochMs begin = hour(100).ms;
  CHECK(first_hour_after(begin, kPolicy) == hour(101));
  CHECK(first_hour_after(begin - 5 * 60'000 - 1, kPolicy) == hour(100));
  // A removed reading of the same moment may lie exactly max_future ahead: at the hour's first millisecond.
  CHECK(first_hour_after(begin - 5 * 60'000, kPolicy) == hour(101));
  CHECK(first_hour_after(begin + kHourMs - 1, kPolicy) == hour(102));
  CHECK(first_hour_after(begin, {0, 0}) == hour(101));
}

TEST_CASE("a service's gate holds nothing") {
  const EmissionGate gate{std::nullopt};
  CHECK_FALSE(gate.holds(HourStart::highest(), "z"));
  CHECK_FALSE(gate.lowest());
  CHECK(gate.held_from() == HourStart::highest());
  CHECK_FALSE(gate.leaves_out(hour(1), {1}));
  CHECK_FALSE(gate.replaces(hour(1)));
}

TEST_CASE("windows are released in the order of their keys") {
  EmissionGate gate(marks());
  CHECK(gate.holds(hour(-5), ""));
  gate.release_to({hour(3), "m"});
  CHECK_FALSE(gate.holds(hour(2), "z"));
  CHECK_FALSE(gate.holds(hour(3), "l"));
  CHECK(gate.holds(hour(3), "m"));
  CHECK(gate.holds(hour(3), "n"));
  CHECK(gate.holds(hour(4), ""));
  CHECK(gate.held_from() == hour(3));
  gate.release_to({HourStart::highest(), ""});
  CHECK_FALSE(gate.holds(hour(1'000'000), "z"));
}

TEST_CASE("the lowest offset is that of the hours that are still held") {
  EmissionGate gate(marks());
  gate.hold(hour(7), {20});
  gate.hold(hour(5), {21});
  gate.hold(hour(7), {22});
  gate.hold(hour(6), {23});
  CHECK(gate.lowest() == Offset{20});
  CHECK(gate.lowest_of(hour(7)) == Offset{20});
  gate.release_to({hour(6), ""});
  CHECK(gate.lowest() == Offset{20});
  CHECK(gate.marks()->held.size() == 2);
  // An hour holds its offset until all of it is released.
  gate.release_to({hour(7), "x"});
  CHECK(gate.lowest() == Offset{20});
  gate.release_to({hour(8), ""});
  CHECK_FALSE(gate.lowest());
  gate.hold(hour(9), {30});
  const EmissionGate again(gate.marks());
  CHECK(again.lowest() == Offset{30});
  CHECK_FALSE(again.holds(hour(7), "z"));
}

TEST_CASE("a reading that waited for a look-up is older than what was folded meanwhile") {
  EmissionGate gate(marks());
  gate.hold(hour(7), {20});
  gate.hold(hour(7), {10});
  CHECK(gate.lowest() == Offset{10});
  CHECK(gate.lowest_of(hour(7)) == Offset{10});
  gate.hold(hour(8), {15});
  gate.release_to({hour(8), ""});
  CHECK(gate.lowest() == Offset{15});
}

TEST_CASE("where only whole hours count, readings of earlier ones are left out before the end") {
  RebuildMarks into = marks();
  into.only_whole = true;
  const EmissionGate other(into);
  CHECK(other.leaves_out(hour(9), {99}));
  CHECK_FALSE(other.leaves_out(hour(10), {99}));
  CHECK_FALSE(other.leaves_out(hour(9), {100}));
  const EmissionGate same(marks());
  CHECK_FALSE(same.leaves_out(hour(9), {99}));
  CHECK_FALSE(same.replaces(hour(9)));
  CHECK(same.replaces(hour(10)));
}
