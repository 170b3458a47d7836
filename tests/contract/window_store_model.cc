#include "tests/contract/window_store_model.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace hourfold::test {
namespace {

void apply_entries(std::map<Position, std::string>& into, const std::vector<StateChanges::Entry>& entries) {
  for (const auto& entry : entries) {
    if (!entry.value) into.erase(entry.position);
  }
  for (const auto& entry : entries) {
    if (entry.value) into.insert_or_assign(entry.position, *entry.value);
  }
}

}  // namespace

void StoreModel::apply(const StateChanges& changes) {
  if (changes.expire_below) {
    std::erase_if(windows, [&](const auto& window) {
      const auto& spared = changes.spared;
      return window.first.hour < *changes.expire_below &&
             std::find(spared.begin(), spared.end(), window.first) == spared.end();
    });
  }
  for (const auto& window : changes.windows)
    windows.insert_or_assign({window.hour, window.device}, window.value);
  for (const auto& entry : changes.pending) {
    if (!entry.first_unacknowledged) pending.erase({entry.hour, entry.device});
  }
  for (const auto& entry : changes.pending) {
    if (entry.first_unacknowledged) pending[{entry.hour, entry.device}] = entry.first_unacknowledged->value;
  }
  apply_entries(waiting, changes.waiting);
  apply_entries(side, changes.side);
  if (changes.marks) marks = changes.marks;
}

StoreModel contents_of(const WindowStore& store) {
  StoreModel found;
  std::optional<WindowKey> last;
  const auto in_order = [&last](const WindowKey& key) {
    CHECK((!last || *last < key));
    last = key;
  };
  REQUIRE(store.each_window([&](HourStart hour, std::string_view device, std::string_view value) {
    in_order({hour, std::string(device)});
    found.windows[{hour, std::string(device)}] = value;
  }));
  last.reset();
  REQUIRE(store.each_pending([&](WindowKey key, Offset offset) {
    in_order(key);
    found.pending[key] = offset.value;
  }));
  std::optional<Position> before;
  const auto collect = [&before](std::map<Position, std::string>& into) {
    before.reset();
    return [&](Position position, std::string_view value) {
      CHECK((!before || *before < position));
      before = position;
      into[position] = value;
    };
  };
  REQUIRE(store.each_waiting(collect(found.waiting)));
  REQUIRE(store.each_side(collect(found.side)));
  for (const auto& [key, value] : found.windows) {
    const auto got = store.find(key.hour, key.device);
    REQUIRE(got);
    REQUIRE(*got == value);
  }
  const auto marks = store.marks();
  REQUIRE(marks);
  found.marks = *marks;
  return found;
}

std::string RandomSteps::device() {
  static const std::string kNames[] = {"a", "a\x01", "b", "\xff\xfe", "dev-00000042", std::string(256, 'z')};
  const std::size_t n = below(60);
  return n < std::size(kNames) ? kNames[n] : "d" + std::to_string(n);
}

std::string RandomSteps::value() {
  return std::string(below(600), static_cast<char>('a' + below(26))) + std::to_string(below(1000));
}

void RandomSteps::add_expiry(StateChanges& changes, const StoreModel& now) {
  changes.expire_below = below(30) == 0 ? HourStart::highest() : hour();
  const std::size_t keep_one_in = 1 + below(12);
  for (const auto& [key, value] : now.windows) {
    if (below(keep_one_in) == 0) changes.spared.push_back(key);
  }
  changes.spared.push_back({hour(), "never written"});
  std::sort(changes.spared.begin(), changes.spared.end());
}

std::vector<StateChanges::Entry> RandomSteps::entries() {
  std::vector<StateChanges::Entry> all;
  for (std::size_t n = below(6); n > 0; --n) {
    const Position position{Offset{static_cast<std::int64_t>(below(40)) - 2},
                            static_cast<std::uint32_t>(below(3))};
    all.push_back({position, below(2) == 0 ? std::optional<std::string>() : value()});
  }
  return all;
}

StateChanges RandomSteps::next(const StoreModel& now) {
  StateChanges changes;
  if (below(4) == 0) add_expiry(changes, now);
  for (std::size_t n = below(40); n > 0; --n) changes.windows.push_back({hour(), device(), value()});
  for (std::size_t n = below(10); n > 0; --n) {
    const bool pending = below(2) == 0;
    changes.pending.push_back(
        {hour(), device(),
         pending ? std::optional(Offset{static_cast<std::int64_t>(random_() >> 2)}) : std::nullopt});
  }
  changes.waiting = entries();
  changes.side = entries();
  changes.marks = "step " + std::to_string(++step_);
  return changes;
}

}  // namespace hourfold::test
