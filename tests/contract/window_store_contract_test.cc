// What every WindowStore promises, over the one in RocksDB and the one in memory.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include "state/memory_store.h"
#include "state/rocksdb_store.h"
#include "tests/contract/window_store_model.h"
#include "tests/contract/window_store_temp_dir.h"

namespace hourfold {
namespace {

using test::RandomSteps;
using test::StoreModel;
using test::TempDir;

struct InMemory {
  MemoryStores memory;
  WindowStores& stores() { return memory; }
};

struct InRocksdb {
  TempDir dir;
  std::unique_ptr<WindowStores> rocksdb = make();
  std::unique_ptr<WindowStores> make() const {
    auto made = make_rocksdb_stores({dir.path(), "group", "topic", 64 << 20, nullptr});
    REQUIRE(made);
    return std::move(*made);
  }
  WindowStores& stores() { return *rocksdb; }
};

std::unique_ptr<WindowStore> open_quietly(WindowStores& stores, std::int32_t partition = 0) {
  std::string notice;
  auto store = stores.open({partition}, notice);
  REQUIRE_MESSAGE(store, store.error().message);
  CHECK(notice.empty());
  return std::move(*store);
}

HourStart hour(int n) { return {n * kHourMs}; }

}  // namespace

TEST_CASE_TEMPLATE("a partition never seen is empty", Home, InMemory, InRocksdb) {
  Home home;
  const auto store = open_quietly(home.stores());
  CHECK(test::contents_of(*store) == StoreModel{});
  CHECK(!*store->find(hour(1), "d"));
  CHECK(*store->last_hour() == std::nullopt);
  CHECK(store->start_sync());
  CHECK(store->sync());
  CHECK(store->apply({}));
}

TEST_CASE_TEMPLATE("random steps leave what the model holds, also after reopening", Home, InMemory,
                   InRocksdb) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Home home;
    RandomSteps steps(seed);
    StoreModel model;
    auto store = open_quietly(home.stores());
    for (int step = 1; step <= 150; ++step) {
      const StateChanges changes = steps.next(model);
      REQUIRE(store->apply(changes));
      model.apply(changes);
      if (step % 7 == 0) REQUIRE(store->start_sync());
      if (step % 11 == 0) {
        const auto synced = store->sync();
        REQUIRE_MESSAGE(synced, synced.error().message);
      }
      if (step % 31 == 0) {
        store.reset();
        store = open_quietly(home.stores());
      }
      if (step % 5 == 0) REQUIRE(test::contents_of(*store) == model);
      const auto last = model.windows.empty() ? std::optional<HourStart>()
                                              : std::optional(model.windows.rbegin()->first.hour);
      REQUIRE(*store->last_hour() == last);
    }
  }
}

TEST_CASE_TEMPLATE("windows are visited from a key on, until it is enough", Home, InMemory, InRocksdb) {
  Home home;
  const auto store = open_quietly(home.stores());
  StateChanges changes;
  for (int h = -1; h <= 1; ++h) {
    for (const char* device : {"a", "ab", "b"}) changes.windows.push_back({hour(h), device, "v"});
  }
  changes.pending.push_back({hour(0), "a", Offset{7}});
  REQUIRE(store->apply(changes));
  const auto visited = [&](const WindowKey& first, std::size_t enough) {
    std::vector<WindowKey> keys;
    REQUIRE(store->windows_from(first, [&](HourStart h, std::string_view device, std::string_view value) {
      CHECK(value == "v");
      keys.push_back({h, std::string(device)});
      return keys.size() < enough;
    }));
    return keys;
  };
  CHECK(visited({HourStart::lowest(), ""}, 100).size() == 9);
  CHECK(visited({hour(0), "ab"}, 100) ==
        std::vector<WindowKey>{
            {hour(0), "ab"}, {hour(0), "b"}, {hour(1), "a"}, {hour(1), "ab"}, {hour(1), "b"}});
  CHECK(visited({hour(-1), std::string("a\0", 2)}, 2) ==
        std::vector<WindowKey>{{hour(-1), "ab"}, {hour(-1), "b"}});
  CHECK(visited({hour(1), "b"}, 1) == std::vector<WindowKey>{{hour(1), "b"}});
  CHECK(visited({hour(1), "c"}, 1).empty());
  CHECK(visited({HourStart::highest(), ""}, 1).empty());
}

TEST_CASE_TEMPLATE("expiry spares what is named and what is written in the same step", Home, InMemory,
                   InRocksdb) {
  Home home;
  const auto store = open_quietly(home.stores());
  StateChanges first;
  for (int h = -2; h <= 3; ++h) {
    for (const char* device : {"a", "ab", "b", "c"}) first.windows.push_back({hour(h), device, "old"});
  }
  first.pending.push_back({hour(-2), "b", Offset{7}});
  REQUIRE(store->apply(first));

  StateChanges second;
  second.expire_below = hour(2);
  second.spared = {{hour(-2), "b"}, {hour(0), "a"}, {hour(0), "c"}, {hour(1), "x"}, {hour(2), "a"}};
  second.windows = {{hour(-1), "late", "new"}, {hour(0), "a", "new"}};
  REQUIRE(store->apply(second));

  const StoreModel now = test::contents_of(*store);
  std::map<WindowKey, std::string> right = {{{hour(-2), "b"}, "old"},
                                            {{hour(-1), "late"}, "new"},
                                            {{hour(0), "a"}, "new"},
                                            {{hour(0), "c"}, "old"}};
  for (int h = 2; h <= 3; ++h) {
    for (const char* device : {"a", "ab", "b", "c"}) right[{hour(h), device}] = "old";
  }
  CHECK(now.windows == right);
  CHECK(now.pending.size() == 1);  // expiry takes windows, not the index of pending ones
}

TEST_CASE_TEMPLATE("expiry of an hour with very many spared windows", Home, InMemory, InRocksdb) {
  Home home;
  const auto store = open_quietly(home.stores());
  StateChanges changes;
  StateChanges expiry;
  expiry.expire_below = hour(3);
  for (int n = 10'000; n < 12'000; ++n) {
    changes.windows.push_back({hour(1), "d" + std::to_string(n), "v"});
    changes.windows.push_back({hour(2), "d" + std::to_string(n), "v"});
    if (n % 2 == 0) expiry.spared.push_back({hour(2), "d" + std::to_string(n)});
  }
  REQUIRE(store->apply(changes));
  REQUIRE(store->apply(expiry));
  StoreModel model;
  model.apply(changes);
  model.apply(expiry);
  CHECK(model.windows.size() == 1000);
  CHECK(test::contents_of(*store) == model);
}

TEST_CASE_TEMPLATE("erasures come before writes", Home, InMemory, InRocksdb) {
  Home home;
  const auto store = open_quietly(home.stores());
  StateChanges changes;
  changes.pending = {{hour(1), "d", Offset{5}}, {hour(1), "d", std::nullopt}};
  changes.waiting = {{Position{Offset{1}, 0}, "w"}, {Position{Offset{1}, 0}, std::nullopt}};
  changes.side = {{Position{Offset{2}, 1}, "s"}, {Position{Offset{2}, 1}, std::nullopt}};
  REQUIRE(store->apply(changes));
  const StoreModel now = test::contents_of(*store);
  CHECK(now.pending.size() == 1);
  CHECK(now.waiting.size() == 1);
  CHECK(now.side.size() == 1);
}

TEST_CASE_TEMPLATE("listing is in key order: hours and offsets below zero first", Home, InMemory, InRocksdb) {
  Home home;
  const auto store = open_quietly(home.stores());
  StateChanges changes;
  for (const int h : {256, -1, 0, -256, 1}) changes.pending.push_back({hour(h), "d", Offset{h}});
  for (const int o : {256, -1, 0, 255}) changes.waiting.push_back({Position{Offset{o}, 1}, "w"});
  changes.waiting.push_back({Position{Offset{255}, 0}, "w"});
  REQUIRE(store->apply(changes));
  std::vector<std::int64_t> offsets;
  REQUIRE(store->each_pending([&](WindowKey, Offset offset) { offsets.push_back(offset.value); }));
  CHECK(offsets == std::vector<std::int64_t>{-256, -1, 0, 1, 256});
  std::vector<Position> positions;
  REQUIRE(store->each_waiting([&](Position position, std::string_view) { positions.push_back(position); }));
  CHECK(positions ==
        std::vector<Position>{
            {Offset{-1}, 1}, {Offset{0}, 1}, {Offset{255}, 0}, {Offset{255}, 1}, {Offset{256}, 1}});
}

TEST_CASE_TEMPLATE("partitions are apart, an open one is locked, one set aside is empty", Home, InMemory,
                   InRocksdb) {
  Home home;
  auto zero = open_quietly(home.stores(), 0);
  const auto one = open_quietly(home.stores(), 1);
  StateChanges changes;
  changes.marks = "zero";
  REQUIRE(zero->apply(changes));
  CHECK(!*one->marks());

  std::string notice;
  const auto again = home.stores().open({0}, notice);
  REQUIRE(!again);
  CHECK(again.error().kind == ErrorKind::kUnavailable);
  CHECK(home.stores().set_aside({0}, "still open").error().kind == ErrorKind::kUnavailable);

  zero.reset();
  zero = open_quietly(home.stores(), 0);
  CHECK(**zero->marks() == "zero");
  zero.reset();
  REQUIRE(home.stores().set_aside({0}, "a test"));
  REQUIRE(home.stores().set_aside({7}, "never seen"));
  CHECK(test::contents_of(*open_quietly(home.stores(), 0)) == StoreModel{});
}

TEST_CASE("in memory: a crash keeps the synced changes and as many of the others as the test says") {
  for (std::size_t survivors = 0; survivors <= 3; ++survivors) {
    MemoryStores stores;
    const auto store = open_quietly(stores);
    const auto step = [&](const std::string& name) {
      StateChanges changes;
      changes.marks = name;
      changes.windows.push_back({hour(1), name, "v"});
      REQUIRE(store->apply(changes));
    };
    step("a");
    {
      const auto synced = store->sync();
      REQUIRE_MESSAGE(synced, synced.error().message);
    }
    const auto old_disk = stores.durable_copy({0});
    for (const char* name : {"b", "c", "d"}) step(name);
    CHECK(stores.unsynced({0}) == 3);
    stores.crash({0}, survivors);
    CHECK(store->apply({}).error().kind == ErrorKind::kFatal);
    CHECK(store->find(hour(1), "a").error().kind == ErrorKind::kFatal);

    auto after = open_quietly(stores);
    CHECK(test::contents_of(*after).windows.size() == 1 + survivors);
    CHECK(**after->marks() == std::string(1, static_cast<char>('a' + survivors)));
    after.reset();
    stores.restore({0}, old_disk);
    CHECK(test::contents_of(*open_quietly(stores)).windows.size() == 1);
  }
}

}  // namespace hourfold
