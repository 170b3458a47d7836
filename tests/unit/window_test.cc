#include "core/window.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/hex.h"
#include "support/random.h"
#include "support/windows.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

Position at(std::int64_t offset, std::uint32_t index = 0) { return {{offset}, index}; }

const Aggregate& aggregate_of(const Window& window, std::string_view name) {
  const Slot slot = window.schema().find(name);
  HF_CHECK(slot != kNoSlot);
  return window.aggregate(slot);
}

// What a window is besides its content.
Window::Parts parts_of(const Window& window, SchemaPool& pool) {
  Window::Parts parts;
  parts.schema = pool.get(window.schema().names());
  for (std::size_t slot = 0; slot < window.schema().size(); ++slot) {
    parts.aggregates.push_back(window.aggregate(slot));
    parts.times_of.push_back(static_cast<std::uint16_t>(window.times_index(slot)));
  }
  parts.times = window.times();
  if (parts.times.size() <= 1) parts.times_of.clear();
  parts.revision = window.revision();
  parts.last_position = window.last_position();
  parts.last_arrival_ms = window.last_arrival_ms();
  parts.deduplicates = window.deduplicates();
  parts.encoded_bytes = bytes_of(window).size();
  return parts;
}

}  // namespace

TEST_CASE("duplicates are found per metric and event time") {
  FoldTools tools;
  Window window(true, tools.schemas);
  struct Step {
    std::vector<Metric> metrics;
    std::uint32_t time;
    FoldResult result;
    std::uint32_t duplicate_values;
    bool conflict;
    std::int64_t count_a;
    std::int64_t count_b;
  };
  using enum FoldResult;
  const std::vector<Step> steps{
      {{{"a", 1}, {"b", 2}}, 10, kFolded, 0, false, 1, 1},
      {{{"a", 1}, {"b", 2}}, 10, kDuplicate, 2, false, 1, 1},
      {{{"b", 2}, {"a", 1}}, 10, kDuplicate, 2, false, 1, 1},  // the order of names does not matter
      {{{"a", 7}}, 10, kDuplicate, 1, true, 1, 1},             // another value: the first stays
      {{{"a", 3}}, 20, kFolded, 0, false, 2, 1},
      {{{"a", 3}, {"b", 4}}, 20, kFolded, 1, false, 2, 2},  // of which only some are duplicates
      {{{"b", 5}}, 5, kFolded, 0, false, 2, 3},             // out of order
      {{{"b", 5}}, 5, kDuplicate, 1, false, 2, 3},
      {{{"c", 1}, {"a", 1}, {"b", 1}}, 10, kFolded, 2, true, 2, 3},
      {{{"c", 1}}, 10, kDuplicate, 1, false, 2, 3},
  };
  std::int64_t offset = 0;
  std::int64_t revision = 0;
  for (const Step& step : steps) {
    CAPTURE(offset);
    const FoldOutcome outcome = fold(window, tools, step.metrics, step.time, at(offset++));
    CHECK(outcome.result == step.result);
    CHECK(outcome.duplicate_values == step.duplicate_values);
    CHECK(outcome.conflict == step.conflict);
    CHECK(aggregate_of(window, "a").count == step.count_a);
    CHECK(aggregate_of(window, "b").count == step.count_b);
    revision += step.result == kFolded ? 1 : 0;
    CHECK(window.revision().value == revision);
  }
  CHECK(aggregate_of(window, "a").max == 3);
}

TEST_CASE("without deduplication every reading counts") {
  FoldTools tools;
  Window window(false, tools.schemas);
  for (int i = 0; i < 3; ++i) CHECK(fold(window, tools, {{"a", 2}}, 10, at(i)).result == FoldResult::kFolded);
  CHECK(aggregate_of(window, "a").count == 3);
  CHECK(window.times().empty());
  CHECK(fold(window, tools, {{"a", 2}}, 10, at(2)).result == FoldResult::kAlreadyCounted);
  const Window again = reread(window, tools);
  CHECK_FALSE(again.deduplicates());
}

TEST_CASE("positions at or below the last one are already counted") {
  FoldTools tools;
  Window window(true, tools.schemas);
  CHECK(fold(window, tools, {{"a", 1}}, 10, at(5, 2)).result == FoldResult::kFolded);
  for (const Position position : {at(5, 2), at(5, 1), at(5, 0), at(4, 9), at(0, 0)}) {
    const FoldOutcome outcome = fold(window, tools, {{"a", 1}}, 99, position);
    CHECK(outcome.result == FoldResult::kAlreadyCounted);
    CHECK(outcome.duplicate_values == 0);
  }
  CHECK(window.revision().value == 1);
  CHECK(window.last_position() == at(5, 2));
  CHECK(window.last_arrival_ms() == kArrival + 5);
  CHECK(fold(window, tools, {{"a", 1}}, 99, at(5, 3)).result == FoldResult::kFolded);
  // A duplicate does not move the position: nothing may be in the contribution that two owners could know
  // differently.
  CHECK(fold(window, tools, {{"a", 1}}, 99, at(8)).result == FoldResult::kDuplicate);
  CHECK(window.last_position() == at(5, 3));
}

TEST_CASE("an hour is full when its revisions have no timestamps left") {
  FoldTools tools;
  Window window(true, tools.schemas);
  fold(window, tools, {{"a", 1}}, 10, at(0));
  Window::Parts parts = parts_of(window, tools.schemas);
  parts.revision = {kMaxRevision.value - 1};
  Window nearly(std::move(parts));
  CHECK(fold(nearly, tools, {{"a", 2}}, 20, at(1)).result == FoldResult::kFolded);
  CHECK(nearly.revision() == kMaxRevision);
  const std::string before = bytes_of(nearly);
  CHECK(fold(nearly, tools, {{"a", 3}}, 30, at(2)).result == FoldResult::kHourFull);
  CHECK(fold(nearly, tools, {{"z", 3}}, 30, at(3)).result == FoldResult::kHourFull);
  CHECK(fold(nearly, tools, {{"a", 3}}, 20, at(4)).result == FoldResult::kDuplicate);
  CHECK(fold(nearly, tools, {{"a", 3}}, 40, at(1)).result == FoldResult::kAlreadyCounted);
  CHECK(bytes_of(nearly) == before);
  CHECK(nearly.last_position() == at(1));
}

TEST_CASE("a contribution holds 4,096 metrics; the reading that passes it changes nothing") {
  for (const bool dedup : {true, false}) {
    FoldTools tools;
    Window window(dedup, tools.schemas);
    std::vector<std::string> names;
    for (int i = 0; i < 4097; ++i) names.push_back("m" + std::to_string(i));
    std::vector<Metric> most;
    for (std::size_t i = 0; i < 4095; ++i) most.push_back({names[i], 1});
    REQUIRE(fold(window, tools, most, 1, at(0)).result == FoldResult::kFolded);
    const std::string before = bytes_of(window);
    CHECK(fold(window, tools, {{names[4095], 1}, {names[4096], 1}}, 2, at(1)).result ==
          FoldResult::kContributionFull);
    CHECK(bytes_of(window) == before);
    CHECK(fold(window, tools, {{names[4095], 1}, {names[0], 1}}, 2, at(2)).result == FoldResult::kFolded);
    CHECK(fold(window, tools, {{names[4096], 1}, {names[0], 1}}, 3, at(3)).result ==
          FoldResult::kContributionFull);
    CHECK(fold(window, tools, {{names[0], 1}}, 3, at(4)).result == FoldResult::kFolded);
    CHECK(window.schema().size() == 4096);
    CHECK(aggregate_of(window, "m0").count == 3);
  }
}

// Its record may lie behind the committed offset's last acknowledgement, and whoever takes over must still
// write its dead letter.
TEST_CASE("a reading that did not fit is told from one already counted, by an owner who was not there") {
  FoldTools tools;
  Window window(true, tools.schemas);
  std::vector<std::string> names;
  for (int i = 0; i < 4096; ++i) names.push_back("m" + std::to_string(i));
  std::vector<Metric> all;
  for (const std::string& name : names) all.push_back({name, 1});
  REQUIRE(fold(window, tools, all, 1, at(0)).result == FoldResult::kFolded);
  CHECK(fold(window, tools, {{"new", 1}, {"m0", 1}}, 2, at(1)).result == FoldResult::kContributionFull);
  REQUIRE(fold(window, tools, {{"m0", 1}}, 3, at(2)).result == FoldResult::kFolded);
  Window taken_over = reread(window, tools);
  CHECK(fold(taken_over, tools, all, 1, at(0)).result == FoldResult::kAlreadyCounted);
  CHECK(fold(taken_over, tools, {{"new", 1}, {"m0", 1}}, 2, at(1)).result == FoldResult::kContributionFull);
  CHECK(fold(taken_over, tools, {{"m0", 1}}, 3, at(2)).result == FoldResult::kAlreadyCounted);
  CHECK(bytes_of(taken_over) == bytes_of(window));
}

TEST_CASE("whether a contribution is full is a function of its content, not of the path") {
  Random random(5);
  FoldTools tools;
  Window::Parts parts;
  std::vector<std::string> names;
  for (int i = 0; i < 262; ++i) {
    names.push_back("metric" + std::to_string(1000 + i));
    SeenTimes times;
    std::uint32_t time = 0;
    while ((time += 200 + static_cast<std::uint32_t>(random.below(3'400))) < 3'600'000) times.insert(time);
    parts.aggregates.push_back(Aggregate::of(1));
    parts.aggregates.back().count = static_cast<std::int64_t>(times.size());
    parts.times_of.push_back(static_cast<std::uint16_t>(i));
    parts.times.push_back(std::move(times));
  }
  parts.schema = tools.schemas.get(names);
  parts.revision = {9'000};
  parts.last_position = at(0);
  Window::Parts pessimist = parts;
  pessimist.encoded_bytes = kMaxContributionBytes;
  const std::size_t size = bytes_of(Window(pessimist)).size();
  REQUIRE(size < kMaxContributionBytes);
  // Fill up to just below the bound by one metric's long name after the other, so that few more readings
  // decide.
  parts.encoded_bytes = size;
  Window live(parts);
  Window reread_each_time(parts);
  Window always_exact(pessimist);
  std::set<FoldResult> seen;
  std::int64_t offset = 0;
  const std::string filler(100, 'x');
  for (int step = 0; step < 60; ++step) {
    std::vector<std::string> fresh;
    std::vector<Metric> metrics{{names[random.below(names.size())], 1}};
    for (std::size_t i = random.below(40); i > 0; --i)
      fresh.push_back("n" + std::to_string(step) + "_" + std::to_string(i) + filler);
    if (step % 2 == 0) {
      for (const std::string& name : fresh) metrics.push_back({name, 1});
    }
    const auto time = static_cast<std::uint32_t>(random.below(3'600'000));
    ++offset;
    const FoldResult result = fold(live, tools, metrics, time, at(offset)).result;
    seen.insert(result);
    reread_each_time = reread(reread_each_time, tools);
    REQUIRE(fold(reread_each_time, tools, metrics, time, at(offset)).result == result);
    REQUIRE(fold(always_exact, tools, metrics, time, at(offset)).result == result);
    REQUIRE(bytes_of(live).size() <= kMaxContributionBytes);
  }
  CHECK(seen.contains(FoldResult::kContributionFull));
  CHECK(bytes_of(live) == bytes_of(reread_each_time));
  CHECK(bytes_of(live) == bytes_of(always_exact));
}

TEST_CASE("the order of names in a reading changes no byte") {
  FoldTools tools;
  Window one(true, tools.schemas);
  Window other(true, tools.schemas);
  fold(one, tools, {{"a", 1}, {"b", 2}, {"c", 3}}, 10, at(0));
  fold(other, tools, {{"c", 3}, {"a", 1}, {"b", 2}}, 10, at(0));
  fold(one, tools, {{"d", 1}, {"b", 2}}, 20, at(1));
  fold(other, tools, {{"b", 2}, {"d", 1}}, 20, at(1));
  CHECK(hex(bytes_of(one)) == hex(bytes_of(other)));
}

TEST_CASE("equal sets of times are stored once, whatever the path to them") {
  FoldTools tools;
  Window together(true, tools.schemas);
  fold(together, tools, {{"a", 1}, {"b", 1}}, 10, at(0));
  fold(together, tools, {{"a", 1}, {"b", 1}}, 20, at(1));
  fold(together, tools, {{"a", 1}, {"b", 1}}, 30, at(9));
  // The sets part and meet again; the revisions are made equal by hand.
  Window apart(true, tools.schemas);
  fold(apart, tools, {{"b", 1}}, 20, at(0));
  fold(apart, tools, {{"a", 1}}, 10, at(1));
  fold(apart, tools, {{"a", 1}, {"b", 1}}, 30, at(2));
  fold(apart, tools, {{"a", 1}}, 20, at(3));
  fold(apart, tools, {{"b", 1}}, 10, at(9));
  CHECK(apart.times().size() > 1);
  Window::Parts parts = parts_of(apart, tools.schemas);
  parts.revision = together.revision();
  CHECK(hex(bytes_of(Window(std::move(parts)))) == hex(bytes_of(together)));
}
