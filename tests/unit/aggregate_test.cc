// Min, max, sum and count as readers get them. Right values were worked out by hand or with exact rational
// arithmetic.
#include "core/aggregate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

using namespace hourfold;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Aggregate fold(const std::vector<double>& values) {
  Aggregate aggregate = Aggregate::of(values.front());
  for (std::size_t i = 1; i < values.size(); ++i) aggregate.add(values[i]);
  return aggregate;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST_CASE("one value is its own min, max and sum") {
  for (const double value : {-5.0, 0.73, 0.0, -0.0, DBL_MAX, -DBL_MAX, DBL_TRUE_MIN}) {
    const Rollup rollup = Aggregate::of(value).rollup();
    CAPTURE(value);
    CHECK(rollup.count == 1);
    CHECK(same_bits(rollup.min, value));
    CHECK(same_bits(rollup.max, value));
    CHECK(rollup.sum == value);
  }
}

TEST_CASE("case 28: tables of values") {
  struct Case {
    std::vector<double> values;
    Rollup want;
  };
  const std::vector<Case> cases{
      {{1, 5}, {1, 5, 6, 2}},
      {std::vector<double>(70, 0.4), {0.4, 0.4, 28.0, 70}},
      {std::vector<double>(10, 0.1), {0.1, 0.1, 1.0, 10}},
      {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5}, {1, 5, 15, 11}},
      {{1e308, -1e308, 1}, {-1e308, 1e308, 1, 3}},
      {{DBL_TRUE_MIN, DBL_TRUE_MIN}, {DBL_TRUE_MIN, DBL_TRUE_MIN, 2 * DBL_TRUE_MIN, 2}},
      {{9007199254740992.0, 1, 1}, {1, 9007199254740992.0, 9007199254740994.0, 3}},
  };
  for (const Case& c : cases) {
    const Rollup rollup = fold(c.values).rollup();
    CAPTURE(c.values.size());
    CHECK(rollup.min == c.want.min);
    CHECK(rollup.max == c.want.max);
    CHECK(same_bits(rollup.sum, c.want.sum));
    CHECK(rollup.count == c.want.count);
  }
}

TEST_CASE("case 29: 1e16, 1, -1e16 sum to 1 in every order") {
  std::vector<double> values{-1e16, 1, 1e16};
  do {
    CHECK(fold(values).rollup().sum == 1.0);
  } while (std::next_permutation(values.begin(), values.end()));
}

TEST_CASE("-0.0 is below +0.0, whichever came first") {
  for (const auto& values : {std::vector<double>{-0.0, 0.0}, std::vector<double>{0.0, -0.0}}) {
    const Rollup rollup = fold(values).rollup();
    CHECK(std::signbit(rollup.min));
    CHECK_FALSE(std::signbit(rollup.max));
  }
  CHECK(std::signbit(fold({-0.0, -0.0}).rollup().max));
  CHECK_FALSE(std::signbit(fold({0.0, 0.0}).rollup().min));
}

TEST_CASE("a sum that overflows stays at the infinity of its first overflow") {
  const std::vector<std::vector<double>> up{{DBL_MAX, DBL_MAX},
                                            {DBL_MAX, DBL_MAX, -DBL_MAX},
                                            {DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX, -DBL_MAX},
                                            {1e308, 1e308, -1e308, 5}};
  for (auto values : up) {
    CHECK(fold(values).rollup().sum == kInfinity);
    for (double& value : values) value = -value;
    CHECK(fold(values).rollup().sum == -kInfinity);
  }
  const Aggregate overflown = fold({DBL_MAX, DBL_MAX, -DBL_MAX});
  CHECK(overflown.rollup().count == 3);
  CHECK(overflown.rollup().min == -DBL_MAX);
  CHECK(overflown.compensation == 0.0);
}

TEST_CASE("a sum that only its compensation lifts over the edge is an infinity, too") {
  // Half a unit in the last place of DBL_MAX, twice: exactly the value that rounds to infinity.
  const double half_ulp = std::ldexp(1.0, 969);
  const Aggregate aggregate = fold({DBL_MAX, half_ulp, half_ulp});
  CHECK_FALSE(std::isnan(aggregate.rollup().sum));
  Aggregate more = aggregate;
  more.add(DBL_MAX);
  more.add(-DBL_MAX);
  CHECK(more.rollup().sum == kInfinity);
}

TEST_CASE("merging is as if the values had come one after the other") {
  const std::vector<double> all{0.1, -2.5, 1e16, -0.0, 0.0, 3, -1e16, 0.7};
  for (std::size_t cut = 1; cut < all.size(); ++cut) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(cut);
    Aggregate merged = fold({all.begin(), middle});
    merged.merge(fold({middle, all.end()}));
    const Rollup whole = fold(all).rollup();
    CHECK(same_bits(merged.rollup().min, whole.min));
    CHECK(same_bits(merged.rollup().max, whole.max));
    CHECK(merged.rollup().count == whole.count);
    CHECK(merged.rollup().sum == doctest::Approx(whole.sum).epsilon(1e-15));
  }
}

TEST_CASE("merging infinities") {
  const Aggregate up = fold({DBL_MAX, DBL_MAX});
  const Aggregate down = fold({-DBL_MAX, -DBL_MAX});
  Aggregate first_up = up;
  first_up.merge(down);
  CHECK(first_up.rollup().sum == kInfinity);
  Aggregate first_down = down;
  first_down.merge(up);
  CHECK(first_down.rollup().sum == -kInfinity);
  Aggregate finite = Aggregate::of(1);
  finite.merge(down);
  CHECK(finite.rollup().sum == -kInfinity);
  CHECK(finite.rollup().count == 3);
}
