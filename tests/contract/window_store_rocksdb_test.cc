// What only a directory can do: be locked, damaged, newer, unusable; and shrink.
#include <doctest/doctest.h>
#include <rocksdb/db.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "state/rocksdb_store.h"
#include "state/state_dir.h"
#include "state/state_keys.h"
#include "tests/contract/window_store_model.h"
#include "tests/contract/window_store_temp_dir.h"

namespace hourfold {
namespace {

namespace fs = std::filesystem;
using test::StoreModel;
using test::TempDir;

RocksdbStateOptions options_in(const TempDir& dir) {
  return {dir.path(), "group", "topic", 64 << 20, nullptr};
}

std::unique_ptr<WindowStores> stores_in(const TempDir& dir) {
  auto stores = make_rocksdb_stores(options_in(dir));
  REQUIRE_MESSAGE(stores, stores.error().message);
  return std::move(*stores);
}

std::unique_ptr<WindowStore> open(WindowStores& stores, std::string& notice) {
  auto store = stores.open({3}, notice);
  REQUIRE_MESSAGE(store, store.error().message);
  return std::move(*store);
}

std::string dir_of(const TempDir& dir) { return partition_dir(dir.path(), "group", "topic", {3}); }

StateChanges some_windows(int hour, int count) {
  StateChanges changes;
  for (int n = 0; n < count; ++n)
    changes.windows.push_back({{hour * kHourMs}, "d" + std::to_string(n), std::string(200, 'v')});
  changes.marks = "marks";
  return changes;
}

void fill(const TempDir& dir) {
  const auto stores = stores_in(dir);
  std::string notice;
  const auto store = open(*stores, notice);
  REQUIRE(store->apply(some_windows(1, 2000)));
  REQUIRE(store->sync());
}

std::vector<fs::path> files_with(const std::string& dir, std::string_view part) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(dir)) {
    if (entry.path().filename().string().find(part) != std::string::npos) found.push_back(entry.path());
  }
  return found;
}

void overwrite(const fs::path& file, std::uintmax_t at, std::string_view bytes) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(at));
  stream << bytes;
}

// Changes the format marker of a closed partition.
void put_raw(const std::string& path, const std::string& key, const std::optional<std::string>& value) {
  rocksdb::DB* raw = nullptr;
  REQUIRE(rocksdb::DB::Open({}, path, &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  REQUIRE((value ? db->Put({}, key, *value) : db->Delete({}, key)).ok());
}

std::uintmax_t disk_bytes(const std::string& dir) {
  std::uintmax_t bytes = 0;
  for (const fs::path& table : files_with(dir, ".sst")) {
    std::error_code gone;
    const std::uintmax_t size = fs::file_size(table, gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace

TEST_CASE("damaged directories are renamed aside and said so, the partition starts empty") {
  struct Case {
    const char* name;
    void (*damage)(const std::string& dir);
  };
  const Case cases[] = {
      {"CURRENT gone", [](const std::string& dir) { fs::remove(dir + "/CURRENT"); }},
      {"CURRENT empty", [](const std::string& dir) { fs::resize_file(dir + "/CURRENT", 0); }},
      {"CURRENT rubbish", [](const std::string& dir) { overwrite(dir + "/CURRENT", 0, "rubbish"); }},
      {"MANIFEST gone", [](const std::string& dir) { fs::remove(files_with(dir, "MANIFEST").at(0)); }},
      {"MANIFEST empty",
       [](const std::string& dir) { fs::resize_file(files_with(dir, "MANIFEST").at(0), 0); }},
      {"MANIFEST overwritten",
       [](const std::string& dir) { overwrite(files_with(dir, "MANIFEST").at(0), 20, "rubbish"); }},
      {"table gone", [](const std::string& dir) { fs::remove(files_with(dir, ".sst").at(0)); }},
      {"table cut", [](const std::string& dir) { fs::resize_file(files_with(dir, ".sst").at(0), 100); }},
      {"no format marker",
       [](const std::string& dir) { put_raw(dir, state_keys::format_key(), std::nullopt); }},
      {"older format",
       [](const std::string& dir) { put_raw(dir, state_keys::format_key(), state_keys::format_value(0)); }},
      {"unknown format",
       [](const std::string& dir) { put_raw(dir, state_keys::format_key(), "a stranger's"); }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    TempDir dir;
    fill(dir);
    c.damage(dir_of(dir));
    const auto stores = stores_in(dir);
    std::string notice;
    const auto store = open(*stores, notice);
    CHECK(test::contents_of(*store) == StoreModel{});
    const auto aside = files_with(fs::path(dir_of(dir)).parent_path(), "3.aside-");
    REQUIRE(aside.size() == 1);
    CHECK(notice.find(aside[0].string()) != std::string::npos);
    CHECK(fs::exists(aside[0] / "ASIDE.txt"));
    REQUIRE(store->apply(some_windows(2, 5)));
    REQUIRE(store->sync());
  }
}

TEST_CASE("a damaged block is Fatal when it is read, and the directory goes aside at the next start") {
  TempDir dir;
  fill(dir);
  const fs::path table = files_with(dir_of(dir), ".sst").at(0);
  overwrite(table, fs::file_size(table) / 2, std::string(100, 'x'));
  const auto stores = stores_in(dir);
  std::string notice;
  {
    auto store = open(*stores, notice);
    CHECK(notice.empty());
    const auto read = store->each_window([](HourStart, std::string_view, std::string_view) {});
    REQUIRE(!read);
    CHECK(read.error().kind == ErrorKind::kFatal);
    CHECK(read.error().message.find(dir_of(dir)) != std::string::npos);
  }
  const auto store = open(*stores, notice);
  CHECK(notice.find("renamed to") != std::string::npos);
  CHECK(test::contents_of(*store) == StoreModel{});
}

TEST_CASE("a newer format is Fatal and is left alone") {
  TempDir dir;
  fill(dir);
  put_raw(dir_of(dir), state_keys::format_key(), state_keys::format_value(state_keys::kFormatVersion + 1));
  const auto stores = stores_in(dir);
  std::string notice;
  const auto store = stores->open({3}, notice);
  REQUIRE(!store);
  CHECK(store.error().kind == ErrorKind::kFatal);
  CHECK(store.error().message.find("newer") != std::string::npos);
  CHECK(fs::exists(dir_of(dir) + "/CURRENT"));
}

TEST_CASE("what a first start left half made is no damage") {
  TempDir dir;
  fs::create_directories(dir_of(dir));
  std::ofstream(dir_of(dir) + "/MANIFEST-000001") << "half";
  const auto stores = stores_in(dir);
  std::string notice;
  CHECK(test::contents_of(*open(*stores, notice)) == StoreModel{});
  CHECK(notice.empty());
}

// Run by the test below in a process of its own (a fork alone would share threads with us that are not
// there).
TEST_CASE("helper: holds a partition until it is killed" * doctest::skip()) {
  auto stores = make_rocksdb_stores({::getenv("HOURFOLD_TEST_STATE"), "group", "topic", 64 << 20, nullptr});
  std::string notice;
  auto store = (*stores)->open({3}, notice);
  std::ofstream(std::string(::getenv("HOURFOLD_TEST_STATE")) + (store ? "/held" : "/refused")) << "now";
  while (true) ::pause();
}

TEST_CASE("a partition locked by another process is Unavailable until that process ends") {
  TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("HOURFOLD_TEST_STATE", dir.path().c_str(), 1);
    ::execl("/proc/self/exe", "holder", "--no-skip", "--test-case=helper: holds a partition*", nullptr);
    ::_exit(1);
  }
  for (int tries = 0; tries < 600 && !fs::exists(dir.path() + "/held"); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  REQUIRE(fs::exists(dir.path() + "/held"));
  const auto stores = stores_in(dir);
  std::string notice;
  const auto held = stores->open({3}, notice);
  REQUIRE(!held);
  CHECK(held.error().kind == ErrorKind::kUnavailable);
  CHECK(held.error().message.find(dir_of(dir)) != std::string::npos);
  CHECK(stores->set_aside({3}, "not now").error().kind == ErrorKind::kUnavailable);

  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(test::contents_of(*open(*stores, notice)) == StoreModel{});
}

TEST_CASE("a directory that cannot be used is Fatal and named") {
  TempDir dir;
  const std::string file = dir.path() + "/file";
  std::ofstream(file) << "in the way";
  for (const std::string& path : {file, file + "/below"}) {
    const auto stores = make_rocksdb_stores({path, "group", "topic", 64 << 20, nullptr});
    REQUIRE(!stores);
    CHECK(stores.error().kind == ErrorKind::kFatal);
    CHECK(stores.error().message.find(path) != std::string::npos);
  }
  fs::create_directories(dir.path() + "/state/group");
  std::ofstream(dir.path() + "/state/group/topic") << "in the way";
  auto stores = make_rocksdb_stores({dir.path() + "/state", "group", "topic", 64 << 20, nullptr});
  REQUIRE(stores);
  std::string notice;
  const auto store = (*stores)->open({3}, notice);
  REQUIRE(!store);
  CHECK(store.error().kind == ErrorKind::kFatal);
  CHECK(store.error().message.find("/state/group/topic/3") != std::string::npos);
}

TEST_CASE("of the directories set aside the newest two stay") {
  TempDir dir;
  for (int n = 0; n < 4; ++n) {
    fill(dir);
    REQUIRE(stores_in(dir)->set_aside({3}, "round " + std::to_string(n)));
  }
  CHECK(files_with(fs::path(dir_of(dir)).parent_path(), "3.aside-").size() == 2);
  const auto listed = list_state_dirs(dir.path());
  REQUIRE(listed);
  REQUIRE(listed->size() == 2);
  CHECK(listed->front().aside);
  CHECK(listed->front().group == "group");
  CHECK(listed->front().partition == PartitionId{3});
}

TEST_CASE("a service's state can be read while it runs, up to its last flush") {
  TempDir dir;
  const auto stores = stores_in(dir);
  std::string notice;
  const auto store = open(*stores, notice);
  REQUIRE(store->apply(some_windows(1, 10)));
  REQUIRE(store->sync());
  REQUIRE(store->apply(some_windows(2, 10)));
  const auto reader = open_rocksdb_store_for_reading(dir_of(dir));
  REQUIRE_MESSAGE(reader, reader.error().message);
  CHECK(test::contents_of(**reader).windows.size() == 10);
  CHECK((*reader)->apply(some_windows(3, 1)).error().kind == ErrorKind::kFatal);
  CHECK(open_rocksdb_store_for_reading(dir.path() + "/nothing").error().kind == ErrorKind::kFatal);
}

TEST_CASE("start_sync() is never refused, however many flushes run") {
  TempDir dir;
  const auto stores = stores_in(dir);
  std::string notice;
  const auto store = open(*stores, notice);
  for (int n = 0; n < 60; ++n) {
    REQUIRE(store->apply(some_windows(n, 20)));
    for (int again = 0; again < 3; ++again) {
      const auto started = store->start_sync();
      REQUIRE_MESSAGE(started, started.error().message);
    }
  }
}

TEST_CASE(
    "case 33: a million hours expired: the disk shrinks, and what is due is found within a millisecond") {
  constexpr int kHours = 20;
  constexpr int kDevices = 50'000;
  TempDir dir;
  // So much memory that all of it is one table: nothing but the sweep would compact it.
  auto made = make_rocksdb_stores({dir.path(), "group", "topic", 2ULL << 30, nullptr});
  REQUIRE(made);
  const auto stores = std::move(*made);
  std::string notice;
  const auto store = open(*stores, notice);
  for (int hour = 0; hour < kHours; ++hour) {
    StateChanges changes = some_windows(hour, kDevices);
    for (auto& window : changes.windows) window.value = std::to_string(hour * 31 % 17) + window.device;
    for (const auto& window : changes.windows)
      changes.pending.push_back({window.hour, window.device, Offset{hour}});
    REQUIRE(store->apply(changes));
    for (auto& entry : changes.pending) entry.first_unacknowledged.reset();
    changes.windows.clear();
    REQUIRE(store->apply(changes));
  }
  REQUIRE(store->sync());
  const std::uintmax_t before = disk_bytes(dir_of(dir));
  StateChanges expiry;
  expiry.expire_below = HourStart{(kHours - 1) * kHourMs};
  expiry.spared = {{HourStart{5 * kHourMs}, "d77"}};
  for (int due = 0; due < 10; ++due)
    expiry.pending.push_back({{(kHours - 1) * kHourMs}, "d" + std::to_string(due), Offset{7}});
  REQUIRE(store->apply(expiry));
  REQUIRE(store->sync());
  std::uintmax_t after = before;
  for (int tries = 0; tries < 300 && after > before / 5; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    after = disk_bytes(dir_of(dir));
  }
  CHECK(after < before / 5);
  // Medians: a machine that is busy with other things may stop a thread for longer than this.
  const auto median_of = [](const std::function<void()>& seek) {
    std::vector<std::chrono::steady_clock::duration> took;
    for (int i = 0; i < 51; ++i) {
      const auto start = std::chrono::steady_clock::now();
      seek();
      took.push_back(std::chrono::steady_clock::now() - start);
    }
    std::nth_element(took.begin(), took.begin() + 25, took.end());
    return took[25];
  };
  std::size_t due = 0;
  CHECK(median_of([&] {
          due = 0;
          REQUIRE(store->each_pending([&](WindowKey, Offset) { ++due; }));
        }) < std::chrono::milliseconds(1));
  CHECK(due == 10);
  CHECK(median_of([&] { REQUIRE_FALSE(store->find({3 * kHourMs}, "d4711")->has_value()); }) <
        std::chrono::milliseconds(1));
  CHECK(test::contents_of(*store).windows.size() == kDevices + 1);
}

}  // namespace hourfold
