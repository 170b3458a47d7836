// Power loss at any write, sync, rename or creation of a file: what the next open() finds is the effect of a
// prefix of the applied steps, each whole, and no shorter than the last sync() promised.
#include <doctest/doctest.h>

#include <random>

#include "state/rocksdb_store.h"
#include "tests/contract/window_store_lossy_fs.h"
#include "tests/contract/window_store_model.h"
#include "tests/contract/window_store_temp_dir.h"

namespace hourfold {
namespace {

using test::LossyFileSystem;
using test::RandomSteps;
using test::StoreModel;
using test::TempDir;

struct Life {
  std::vector<StoreModel> after;  // [n]: what the store holds after n steps
  std::size_t promised = 0;       // steps before the last sync() that was ok
  bool opened = false;
};

// Runs steps until they are done or the file system has died; then the process is gone.
void live(const RocksdbStateOptions& options, RandomSteps& steps, std::mt19937_64& random, int count,
          Life& life) {
  auto stores = make_rocksdb_stores(options);
  REQUIRE(stores);
  std::string notice;
  auto store = (*stores)->open({0}, notice);
  if (!store) return;
  CHECK(notice.empty());
  life.opened = true;
  for (int n = 0; n < count; ++n) {
    const StateChanges changes = steps.next(life.after.back());
    StoreModel next = life.after.back();
    next.apply(changes);
    life.after.push_back(std::move(next));  // a failed step may have been applied
    if (!(*store)->apply(changes)) return;
    const auto roll = random() % 10;
    if (roll == 0 && (*store)->sync()) life.promised = life.after.size() - 1;
    if (roll == 1 && !(*store)->start_sync()) return;
  }
}

// The number of steps that survived, or none that fits.
std::optional<std::size_t> survived(const Life& life, const StoreModel& found) {
  for (std::size_t n = life.after.size(); n-- > 0;) {
    if (life.after[n] == found) return n;
  }
  return std::nullopt;
}

// Several lives over one directory, each ended by a crash at a random operation.
void lives_and_crashes(std::uint64_t seed) {
  CAPTURE(seed);
  TempDir dir;
  const auto lossy = std::make_shared<LossyFileSystem>();
  const std::unique_ptr<rocksdb::Env> env = test::make_lossy_env(lossy);
  // So little memory that it flushes by itself, too.
  const RocksdbStateOptions options{dir.path(), "group", "topic", 1 << 20, env.get()};
  std::mt19937_64 random(seed);
  RandomSteps steps(seed);
  StoreModel start;
  for (int life_number = 0; life_number < 6; ++life_number) {
    CAPTURE(life_number);
    Life life;
    life.after.push_back(start);
    lossy->die_at(1 + random() % 400);
    live(options, steps, random, 60, life);
    lossy->lose_unsynced();

    auto stores = make_rocksdb_stores(options);
    REQUIRE(stores);
    std::string notice;
    auto store = (*stores)->open({0}, notice);
    REQUIRE_MESSAGE(store, store.error().message);
    REQUIRE_MESSAGE(notice.empty(), notice);
    StoreModel found = test::contents_of(**store);
    const auto prefix = survived(life, found);
    REQUIRE(prefix.has_value());
    CHECK(*prefix >= life.promised);
    start = std::move(found);
    store->reset();
    lossy->lose_unsynced();
  }
}

}  // namespace

TEST_CASE("a crash leaves a prefix of the steps, each whole") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) lives_and_crashes(seed);
}

TEST_CASE("nothing but what was flushed survives, so the lossy file system does lose") {
  TempDir dir;
  const auto lossy = std::make_shared<LossyFileSystem>();
  const std::unique_ptr<rocksdb::Env> env = test::make_lossy_env(lossy);
  const RocksdbStateOptions options{dir.path(), "group", "topic", 1 << 20, env.get()};
  StateChanges kept;
  kept.marks = "kept";
  StateChanges lost;
  lost.marks = "lost";
  {
    auto stores = make_rocksdb_stores(options);
    std::string notice;
    auto store = (*stores)->open({0}, notice);
    REQUIRE((*store)->apply(kept));
    REQUIRE((*store)->sync());
    REQUIRE((*store)->apply(lost));
    lossy->die_at(1);
  }
  lossy->lose_unsynced();
  auto stores = make_rocksdb_stores(options);
  std::string notice;
  auto store = (*stores)->open({0}, notice);
  REQUIRE(store);
  CHECK(**(*store)->marks() == "kept");
}

}  // namespace hourfold
