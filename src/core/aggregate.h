// Min, max, compensated sum and count of one metric in one hour.
//
// Invariants: every value added is finite. min and max order -0.0 below +0.0. The sum is Neumaier's: the
// correctly rounded one in all but
//             contrived cases. A sum that overflows is the infinity of its first overflow from then on, never
//             NaN. Bits depend on the order of the values alone, which is why the build sets
//             -ffp-contract=off.
// Source: A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974.
#pragma once

#include <cmath>
#include <cstdint>

namespace hourfold {

// What a reader of the table gets.
struct Rollup {
  double min = 0;
  double max = 0;
  double sum = 0;
  std::int64_t count = 0;

  bool operator==(const Rollup&) const = default;
};

struct Aggregate {
  double min = 0;
  double max = 0;
  double sum = 0;
  double compensation = 0;
  std::int64_t count = 0;

  static Aggregate of(double value) { return {value, value, value, 0.0, 1}; }

  void add(double value) {
    if (value < min || (value == min && std::signbit(value))) min = value;
    if (value > max || (value == max && !std::signbit(value))) max = value;
    add_to_sum(value);
    ++count;
  }

  // As if the other's values had come after ours, up to the rounding of the sums.
  void merge(const Aggregate& other) {
    if (other.min < min || (other.min == min && std::signbit(other.min))) min = other.min;
    if (other.max > max || (other.max == max && !std::signbit(other.max))) max = other.max;
    add_to_sum(other.sum);
    add_to_sum(other.compensation);
    count += other.count;
  }

  Rollup rollup() const { return {min, max, sum + compensation, count}; }

  bool operator==(const Aggregate&) const = default;

 private:
  void add_to_sum(double value) {
    if (!std::isfinite(sum)) return;
    const double total = sum + value;
    compensation += std::fabs(sum) >= std::fabs(value) ? (sum - total) + value : (value - total) + sum;
    sum = total;
    const double rounded = sum + compensation;
    if (!std::isfinite(rounded)) {
      // An overflow of the sum leaves NaN or the opposite infinity in the compensation.
      sum = std::isfinite(total) ? rounded : total;
      compensation = 0.0;
    }
  }
};

}  // namespace hourfold
