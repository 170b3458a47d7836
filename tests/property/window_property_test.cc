// Windows against the plain recomputation over std::map (tests/support/oracle.h), for random histories.
//
//   HOURFOLD_SEED=n replays one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/hex.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/windows.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

struct Reading {
  OracleMetrics metrics;
  std::uint32_t time;
  Position position;
};

struct History {
  bool dedup = true;
  std::vector<Reading> readings;
};

double value(Random& random) {
  switch (random.below(6)) {
    case 0:
      return random.pick({0.0, -0.0, 0.1, 0.4, 1e16, -1e16});
    case 1:
      return static_cast<double>(random.between(-1'000, 1'000));
    case 2:
      return std::ldexp(static_cast<double>(random.next() >> 11),
                        static_cast<int>(random.between(-200, 200)));
    default:
      return static_cast<double>(random.between(-100'000, 100'000)) / 100;
  }
}

History history(Random& random) {
  History out;
  out.dedup = random.chance(.8);
  const std::size_t names = 1 + random.below(6);
  const double together = random.pick({1.0, .95, .5});
  const std::uint32_t grid = random.pick<std::uint32_t>({1, 1'000, 60'000, 600'000});
  const bool in_order = random.chance(.5);
  Position position;
  for (std::size_t i = random.below(120); i > 0; --i) {
    Reading reading;
    for (std::size_t name = 0; name < names; ++name) {
      if (random.chance(together))
        reading.metrics.emplace_back("m" + std::to_string((name + i) % names), value(random));
    }
    if (reading.metrics.empty()) reading.metrics.emplace_back("m0", value(random));
    const std::size_t slots = 3'600'000 / grid;
    reading.time =
        static_cast<std::uint32_t>(in_order ? out.readings.size() % slots : random.below(slots)) * grid;
    if (random.chance(.8)) {
      position = {{position.offset.value + random.between(1, 300)}, 0};
    } else {
      ++position.index;
    }
    // A replay of what is behind.
    reading.position =
        random.chance(.05) && i % 2 == 0
            ? Position{{random.between(0, std::max<std::int64_t>(0, position.offset.value))}, 0}
            : position;
    out.readings.push_back(std::move(reading));
  }
  return out;
}

FoldResult result_of(OracleWindow::Fate fate) {
  switch (fate) {
    case OracleWindow::Fate::kFolded:
      return FoldResult::kFolded;
    case OracleWindow::Fate::kDuplicate:
      return FoldResult::kDuplicate;
    case OracleWindow::Fate::kCounted:
      return FoldResult::kAlreadyCounted;
    case OracleWindow::Fate::kFull:
      return FoldResult::kContributionFull;
  }
  return FoldResult::kHourFull;
}

std::vector<Metric> views(const OracleMetrics& metrics) {
  std::vector<Metric> out;
  for (const auto& [name, number] : metrics) out.push_back({name, number});
  return out;
}

FoldResult fold_into(Window& window, FoldTools& tools, const Reading& reading) {
  return fold(window, tools, views(reading.metrics), reading.time, reading.position).result;
}

template <class Check>
void for_each_seed(std::uint64_t count, const Check& check) {
  const char* one = std::getenv("HOURFOLD_SEED");
  const std::uint64_t first = one ? std::strtoull(one, nullptr, 10) : 1;
  for (std::uint64_t seed = first; seed < first + (one ? 1 : count); ++seed) {
    INFO("replay: HOURFOLD_SEED=", seed, " hourfold_property");
    Random random(seed);
    check(random);
  }
}

}  // namespace

TEST_CASE("a window is what the plain recomputation says, byte for byte") {
  for_each_seed(2'000, [](Random& random) {
    const History h = history(random);
    FoldTools tools;
    Window window(h.dedup, tools.schemas);
    OracleWindow oracle;
    for (const Reading& reading : h.readings) {
      const auto fate =
          oracle.fold(reading.metrics, reading.time, reading.position.offset.value, reading.position.index,
                      kArrival + reading.position.offset.value, h.dedup);
      REQUIRE(fold_into(window, tools, reading) == result_of(fate));
    }
    REQUIRE(hex(bytes_of(window)) == hex(oracle.encode(h.dedup)));
  });
}

TEST_CASE("a restart at any point changes no byte and no decision") {
  for_each_seed(2'000, [](Random& random) {
    const History h = history(random);
    FoldTools tools;
    FoldTools other_tools;
    Window straight(h.dedup, tools.schemas);
    Window restarted(h.dedup, other_tools.schemas);
    const double often = random.pick({.02, .3, 1.0});
    for (const Reading& reading : h.readings) {
      if (random.chance(often)) restarted = reread(restarted, other_tools);
      REQUIRE(fold_into(restarted, other_tools, reading) == fold_into(straight, tools, reading));
    }
    REQUIRE(hex(bytes_of(restarted)) == hex(bytes_of(straight)));
    REQUIRE(hex(bytes_of(reread(straight, tools))) == hex(bytes_of(straight)));
  });
}

TEST_CASE("replaying any stretch of the past again changes nothing") {
  for_each_seed(500, [](Random& random) {
    const History h = history(random);
    FoldTools tools;
    Window window(h.dedup, tools.schemas);
    for (std::size_t i = 0; i < h.readings.size(); ++i) {
      (void)fold_into(window, tools, h.readings[i]);
      if (!random.chance(.1)) continue;
      const std::string before = bytes_of(window);
      for (std::size_t k = random.below(i + 1); k <= i; ++k) {
        const FoldResult again = fold_into(window, tools, h.readings[k]);
        REQUIRE((again == FoldResult::kAlreadyCounted || again == FoldResult::kDuplicate));
      }
      REQUIRE(bytes_of(window) == before);
    }
  });
}

TEST_CASE("sums are within a rounding of the exact ones") {
  for_each_seed(1'000, [](Random& random) {
    Aggregate aggregate;
    long double exact = 0;
    long double magnitude = 0;
    for (std::size_t i = 1 + random.below(300); i > 0; --i) {
      const double number =
          static_cast<double>(random.between(-1'000'000, 1'000'000)) / 1'000 * random.pick({1.0, 1e-6, 1e6});
      if (aggregate.count == 0) {
        aggregate = Aggregate::of(number);
      } else {
        aggregate.add(number);
      }
      exact += static_cast<long double>(number);
      magnitude += std::fabs(static_cast<long double>(number));
    }
    const auto error = std::fabs(static_cast<long double>(aggregate.rollup().sum) - exact);
    REQUIRE(error <= std::fabs(exact) * 0x1p-53L + magnitude * 0x1p-60L);
  });
}

TEST_CASE(
    "merging: counts, min and max are those of the whole; sums agree up to rounding; the empty side does not "
    "exist") {
  for_each_seed(1'000, [](Random& random) {
    std::vector<Aggregate> parts;
    Aggregate whole;
    double magnitude = 0;
    for (std::size_t part = 1 + random.below(4); part > 0; --part) {
      Aggregate aggregate;
      for (std::size_t i = 1 + random.below(40); i > 0; --i) {
        const double number = static_cast<double>(random.between(-100'000, 100'000)) / 100;
        magnitude += std::fabs(number);
        aggregate.count == 0 ? void(aggregate = Aggregate::of(number)) : aggregate.add(number);
        whole.count == 0 ? void(whole = Aggregate::of(number)) : whole.add(number);
      }
      parts.push_back(aggregate);
    }
    Aggregate left = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) left.merge(parts[i]);
    Aggregate right = parts.back();
    for (std::size_t i = parts.size() - 1; i-- > 0;) {
      Aggregate merged = parts[i];
      merged.merge(right);
      right = merged;
    }
    for (const Aggregate& merged : {left, right}) {
      REQUIRE(merged.count == whole.count);
      REQUIRE(merged.min == whole.min);
      REQUIRE(merged.max == whole.max);
      REQUIRE(std::fabs(merged.rollup().sum - whole.rollup().sum) <= magnitude * 0x1p-52);
    }
  });
}
