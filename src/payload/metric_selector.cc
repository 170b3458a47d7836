#include "payload/metric_selector.h"

#include <algorithm>
#include <cmath>

namespace hourfold {
namespace {

constexpr std::size_t kMaxDecisions = 65'536;

std::vector<Glob> globs(const std::vector<std::string>& patterns) {
  return {patterns.begin(), patterns.end()};
}

bool any_matches(const std::vector<Glob>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const Glob& pattern) { return pattern.matches(name); });
}

// n, if the scale is the double nearest to 1/n: 2150 / 100 is 21.5, and 2150 * 0.01 need not be.
double divisor_of(double scale) {
  constexpr double kLargest = 1e15;
  const double inverse = std::round(1 / scale);
  const bool exact = scale < 1 && inverse >= 2 && inverse <= kLargest && 1 / inverse == scale;
  return exact ? inverse : 1;
}

}  // namespace

MetricSelector::MetricSelector(const MetricSelection& selection)
    : allow_(globs(selection.allow)),
      deny_(globs(selection.deny)),
      renames_(selection.rename.begin(), selection.rename.end()) {
  for (const auto& conversion : selection.convert) {
    const double divisor = divisor_of(conversion.scale);
    conversions_.push_back(
        {Glob(conversion.metrics), divisor == 1 ? conversion.scale : 1, divisor, conversion.offset});
  }
}

const MetricSelector::Decision& MetricSelector::decide(std::string_view name) {
  const auto known = decisions_.find(name);
  if (known != decisions_.end()) return known->second;
  return decisions_.emplace(std::string(name), decide_anew(name)).first->second;
}

MetricSelector::Decision MetricSelector::decide_anew(std::string_view name) const {
  Decision decision;
  decision.keep = (allow_.empty() || any_matches(allow_, name)) && !any_matches(deny_, name);
  const auto renamed = renames_.find(name);
  decision.name = renamed == renames_.end() ? std::string(name) : renamed->second;
  for (const Conversion& conversion : conversions_) {
    if (!conversion.metrics.matches(name)) continue;
    decision.converts = true;
    decision.multiplier = conversion.multiplier;
    decision.divisor = conversion.divisor;
    decision.offset = conversion.offset;
    break;
  }
  return decision;
}

void MetricSelector::forget_surplus() {
  if (decisions_.size() > kMaxDecisions) decisions_.clear();
}

}  // namespace hourfold
