// What a WindowStore must hold after a sequence of steps, in the plainest way, and random steps to drive it
// with.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "state/window_store.h"

namespace hourfold::test {

struct StoreModel {
  std::map<WindowKey, std::string> windows;
  std::map<WindowKey, std::int64_t> pending;
  std::map<Position, std::string> waiting;
  std::map<Position, std::string> side;
  std::optional<std::string> marks;

  bool operator==(const StoreModel&) const = default;

  void apply(const StateChanges& changes);
};

// Everything the store lists, and find() asked for every window listed.
StoreModel contents_of(const WindowStore& store);

// Random steps over few hours (below zero, too) and few devices, so that they meet: windows, pending entries
// with and without an offset, waiting and side entries that come and go, expiry with spared windows
// (sometimes very many), marks that carry the number of the step.
class RandomSteps {
 public:
  explicit RandomSteps(std::uint64_t seed) : random_(seed) {}

  StateChanges next(const StoreModel& now);

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  HourStart hour() { return {(static_cast<std::int64_t>(below(9)) - 4) * kHourMs}; }
  std::string device();
  std::string value();
  void add_expiry(StateChanges& changes, const StoreModel& now);
  std::vector<StateChanges::Entry> entries();

  std::mt19937_64 random_;
  int step_ = 0;
};

}  // namespace hourfold::test
