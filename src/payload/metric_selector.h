// Which metrics are kept, under which names and in which unit.
//
// A name is decided once and remembered: globs cost nothing per reading. What is remembered is bounded;
// forget_surplus() between two records sees to that.
//
// Threads: one thread per selector. Ownership: decisions and their names live until forget_surplus().
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/glob.h"
#include "core/reading_shape.h"

namespace hourfold {

class MetricSelector {
 public:
  explicit MetricSelector(const MetricSelection& selection);

  struct Decision {
    bool keep = true;
    std::string name;  // as the rollups have it
    bool converts = false;
    double multiplier = 1;
    double divisor = 1;
    double offset = 0;

    double convert(double value) const { return value * multiplier / divisor + offset; }
  };
  const Decision& decide(std::string_view name);

  // Ends the life of all decisions once they are too many.
  void forget_surplus();

 private:
  struct Conversion {
    Glob metrics;
    double multiplier;
    double divisor;
    double offset;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  Decision decide_anew(std::string_view name) const;

  std::vector<Glob> allow_;
  std::vector<Glob> deny_;
  std::vector<Conversion> conversions_;
  std::map<std::string, std::string, std::less<>> renames_;
  std::unordered_map<std::string, Decision, Hash, std::equal_to<>> decisions_;
};

}  // namespace hourfold
