// Golden bytes of the `s` cell; computed by an independent script from docs/FORMATS.md.
#include "core/contribution_codec.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/hex.h"
#include "support/random.h"
#include "support/windows.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

constexpr const char* kTwoMetrics =
    "01 01 02 07 02 0000019b76daafd0 02"                                               // header
    "01 61 c008000000000000 3ff0000000000000 c000000000000000 0000000000000000 02 00"  // a, first set
    "01 62 4004000000000000 4004000000000000 4004000000000000 0000000000000000 01 01"  // b, second set
    "02 00 01 e807 02  01 01 e807";                                                    // the sets
constexpr const char* kWithoutTimes =
    "01 00 02 07 02 0000019b76daafd0 02"
    "01 61 c008000000000000 3ff0000000000000 c000000000000000 0000000000000000 02"
    "01 62 4004000000000000 4004000000000000 4004000000000000 0000000000000000 01";
constexpr const char* kEmpty = "01 01 00 00 00 0000000000000000 00 00";
constexpr const char* kCompensated =
    "01 01 02 e1a712 00 0000019b76daafd0 01"
    "06 74656d705f63 3ff0000000000000 4341c37937e08000 4341c37937e08000 3ff0000000000000 02 00"
    "01 00 01 e807 02";

Window two_metrics(FoldTools& tools, bool dedup) {
  Window window(dedup, tools.schemas);
  const std::vector<Metric> first{{"b", 2.5}, {"a", 1}};
  const std::vector<Metric> second{{"a", -3}};
  (void)window.fold(first, 1'000, {{5}, 0}, 1'767'225'601'000, tools);
  (void)window.fold(second, 2'000, {{6}, 2}, 1'767'225'602'000, tools);
  return window;
}

}  // namespace

TEST_CASE("golden bytes of a contribution") {
  FoldTools tools;
  CHECK(hex(bytes_of(two_metrics(tools, true))) == hex(unhex(kTwoMetrics)));
  CHECK(hex(bytes_of(two_metrics(tools, false))) == hex(unhex(kWithoutTimes)));
  CHECK(hex(bytes_of(Window(true, tools.schemas))) == hex(unhex(kEmpty)));
  Window compensated(true, tools.schemas);
  const std::vector<Metric> big{{"temp_c", 1e16}};
  const std::vector<Metric> small{{"temp_c", 1}};
  (void)compensated.fold(big, 1'000, {{4}, 0}, 1'767'225'601'000, tools);
  (void)compensated.fold(small, 2'000, {{300'000}, 0}, 1'767'225'602'000, tools);
  CHECK(hex(bytes_of(compensated)) == hex(unhex(kCompensated)));
}

TEST_CASE("what was encoded decodes to the same window and the same bytes") {
  FoldTools tools;
  for (const char* golden : {kTwoMetrics, kWithoutTimes, kEmpty, kCompensated}) {
    const std::string bytes = unhex(golden);
    const auto window = read_contribution(bytes, tools.schemas);
    REQUIRE(window);
    CHECK(hex(bytes_of(*window)) == hex(bytes));
  }
  const auto window = read_contribution(unhex(kTwoMetrics), tools.schemas);
  CHECK(window->revision().value == 2);
  CHECK(window->last_position() == Position{{6}, 2});
  CHECK(window->last_arrival_ms() == 1'767'225'602'000);
  CHECK(window->schema().names() == std::vector<std::string>{"a", "b"});
  CHECK(window->aggregate(0) == Aggregate{-3, 1, -2, 0, 2});
}

TEST_CASE("a newer version stops the partition and says what to do") {
  FoldTools tools;
  std::string bytes = unhex(kTwoMetrics);
  bytes[0] = 2;
  const auto window = read_contribution(bytes, tools.schemas);
  REQUIRE_FALSE(window);
  CHECK(window.error().kind == ErrorKind::kFatal);
  CHECK(window.error().message.find("version 2") != std::string::npos);
  CHECK(window.error().message.find("run the version that wrote it") != std::string::npos);
}

TEST_CASE("bytes that are no contribution are refused") {
  constexpr const char* kMetric =
      " 01 61 0000000000000000 0000000000000000 0000000000000000 0000000000000000 ";
  constexpr const char* kOther =
      " 01 62 0000000000000000 0000000000000000 0000000000000000 0000000000000000 ";
  const std::string head = "01 01 01 01 00 0000000000000000 01";
  const std::string two = "01 01 01 01 00 0000000000000000 02";
  const std::vector<std::pair<const char*, std::string>> cases{
      {"nothing", ""},
      {"version 0", "00 01 00 00 00 0000000000000000 00 00"},
      {"an unknown flag", "01 02 00 00 00 0000000000000000 00 00"},
      {"a revision beyond the last", "01 01 80dddb01 01 00 0000000000000000 00 00"},
      {"too many metrics", "01 01 01 01 00 0000000000000000 8120"},
      {"a metric without count", head + kMetric + "00 00 01 01 01 05"},
      {"a set that is not there", head + kMetric + "01 01 01 01 01 05"},
      {"more sets than metrics", head + kMetric + "01 00 02 01 01 05 01 01 06"},
      {"no sets", head + kMetric + "01 00 00"},
      {"bytes left over", std::string(kEmpty) + "00"},
      {"a negative revision", "01 01 ffffffffffffffffff01 00 00 0000000000000000 00 00"},
      {"an offset beyond the last", "01 01 00 80808080808080808001 00 0000000000000000 00 00"},
      {"an index of more than 32 bits", "01 01 00 00 8080808010 0000000000000000 00 00"},
      {"a number with zeros at its end", "01 01 8100 00 00 0000000000000000 00 00"},
      {"equal sets twice", two + kMetric + "01 00" + kOther + "01 01 02 01 01 05 01 01 05"},
      {"sets in another order", two + kMetric + "01 01" + kOther + "01 00 02 01 01 05 01 01 06"},
      {"a set that nothing uses", two + kMetric + "01 00" + kOther + "01 00 02 01 01 05 01 01 06"},
      {"times that are written shorter", head + kMetric + "01 00 01 01 02 05 05"},
      {"metrics out of order",
       "01 00 01 01 00 0000000000000000 02 01 62 0000000000000000 0000000000000000 0000000000000000 "
       "0000000000000000 01"
       " 01 61 0000000000000000 0000000000000000 0000000000000000 0000000000000000 01"},
      {"a metric twice",
       "01 00 01 01 00 0000000000000000 02 01 61 0000000000000000 0000000000000000 0000000000000000 "
       "0000000000000000 01"
       " 01 61 0000000000000000 0000000000000000 0000000000000000 0000000000000000 01"},
  };
  FoldTools tools;
  for (const auto& [label, bytes] : cases) {
    const std::string name = label;
    CAPTURE(name);
    const auto window = read_contribution(unhex(bytes), tools.schemas);
    REQUIRE_FALSE(window);
    CHECK(window.error().kind == ErrorKind::kFatal);
  }
}

TEST_CASE("every prefix of a contribution is refused") {
  FoldTools tools;
  for (const char* golden : {kTwoMetrics, kWithoutTimes, kEmpty, kCompensated}) {
    const std::string bytes = unhex(golden);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      CHECK_FALSE(read_contribution(bytes.substr(0, size), tools.schemas));
  }
}

TEST_CASE("damaged contributions never do worse than being refused") {
  Random random(17);
  FoldTools tools;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = unhex(random.pick({kTwoMetrics, kWithoutTimes, kCompensated}));
    for (std::size_t i = 1 + random.below(3); i > 0; --i)
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    if (auto window = read_contribution(bytes, tools.schemas)) {
      const std::vector<Metric> metrics{{"a", 1}, {"q", 2}};
      (void)window->fold(metrics, 77, {{1'000'000}, 0}, 0, tools);
      (void)bytes_of(*window);
    }
  }
}

TEST_CASE("the row's Put carries every metric and the contribution at one timestamp") {
  FoldTools tools;
  const HourStart hour{1'767'225'600'000};
  const RowPut put =
      make_row_put(two_metrics(tools, true), "dev-1", hour, 32, RowLayout::kWide, {2}, "telemetry/7");
  CHECK(put.key() == row_key("dev-1", hour, 32));
  CHECK(put.timestamp() == hour.ms + 2 * kHourMs + 2);
  REQUIRE(put.cell_count() == 9);
  CHECK(put.cell(0).qualifier == "a:min");
  CHECK(hex(put.cell(0).value) == "c008000000000000");
  CHECK(put.cell(7).qualifier == "b:count");
  CHECK(hex(put.cell(7).value) == "0000000000000001");
  CHECK(put.cell(8).family == 's');
  CHECK(put.cell(8).qualifier == "telemetry/7");
  CHECK(hex(put.cell(8).value) == hex(unhex(kTwoMetrics)));
  CHECK(contribution_qualifier("telemetry", {7}) == "telemetry/7");
}
