#include "pipeline/emitter.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/fake_ports.h"
#include "support/windows.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

constexpr HourStart kHour{1'767'222'000'000};
constexpr EpochMs kNow = kHour.ms + 10 * kHourMs;

struct Bench {
  explicit Bench(std::uint32_t buckets = 1, std::size_t max_rows = 500, std::size_t max_bytes = 1 << 20)
      : outbox(EmitPolicy{}, buckets),
        emitter(
            settings(buckets, max_rows, max_bytes), table, outbox, sink, counters,
            [this](const OpenWindow& entry, const Window&, const Error& error) {
              refused.push_back(entry.device->id + ": " + error.message);
            },
            [](const OpenWindow&, Offset) {}) {}

  static EmitterSettings settings(std::uint32_t buckets, std::size_t max_rows, std::size_t max_bytes) {
    EmitterSettings settings;
    settings.buckets = buckets;
    settings.max_rows = max_rows;
    settings.max_bytes = max_bytes;
    settings.contribution_qualifier = "t/0";
    return settings;
  }
  // A window with one reading, ready to go.
  OpenWindow& ready(const std::string& device, std::int64_t offset) {
    Window window(true, tools.schemas);
    (void)fold(window, tools, {{"a", 1}}, 10, {{offset}, 0});
    OpenWindow& entry = table.insert(kHour, device, std::move(window));
    table.mark_content_dirty(entry);
    outbox.changed(entry, {offset}, kNow);
    outbox.hurry();
    return entry;
  }
  void step(EpochMs now) { REQUIRE(emitter.step(now)); }
  void answer(std::size_t i, const Result<void>& outcome, EpochMs now) {
    const Ticket ticket = sink.puts[i].ticket;
    sink.puts.erase(sink.puts.begin() + static_cast<std::ptrdiff_t>(i));
    REQUIRE(emitter.take({ticket, outcome}, now));
  }
  std::vector<std::string> devices(std::size_t i) const {
    std::vector<std::string> out;
    for (const RowPut& row : sink.puts[i].rows) out.emplace_back(split_row_key(row.key())->device);
    return out;
  }
  std::set<std::string> in_flight() const {
    std::set<std::string> out;
    for (std::size_t i = 0; i < sink.puts.size(); ++i) {
      for (const std::string& device : devices(i)) out.insert(device);
    }
    return out;
  }

  MemoryStores stores;
  std::unique_ptr<WindowStore> store = open_store(stores);
  FoldTools tools;
  WindowTable table{*store, tools};
  Outbox outbox;
  FakeSink sink;
  WorkerCounters counters;
  std::vector<std::string> refused;
  Emitter emitter;
};

// A device of each salt, and more of one.
std::string device_of_salt(std::uint8_t salt, std::uint32_t buckets, int which = 0) {
  for (int i = 0;; ++i) {
    std::string device = "d" + std::to_string(i);
    if (salt_of(device, buckets) == salt && which-- == 0) return device;
  }
}

}  // namespace

TEST_CASE("a batch takes the windows with the lowest offsets, over all salts, and is sorted by row") {
  Bench bench(4, 3);
  const char* names[] = {"e", "b", "d", "a", "c", "f", "g"};
  for (int i = 0; i < 7; ++i) bench.ready(names[i], i);
  bench.step(kNow);
  REQUIRE(bench.sink.puts.size() == 2);  // at most two batches on their way
  std::set<std::string> first;
  for (const std::string& device : bench.devices(0)) first.insert(device);
  CHECK(first == std::set<std::string>{"e", "b", "d"});
  for (const auto& put : bench.sink.puts) {
    for (std::size_t i = 1; i < put.rows.size(); ++i) CHECK(put.rows[i - 1].key() < put.rows[i].key());
  }
  bench.step(kNow + 100'000);
  CHECK(bench.sink.puts.size() == 2);
  bench.answer(0, {}, kNow);
  CHECK(bench.outbox.lowest() == Offset{3});
  bench.step(kNow);
  CHECK(bench.devices(1) == std::vector<std::string>{"g"});
  CHECK(bench.counters.rows_put.get() == 3);
  CHECK(bench.counters.cells_put.get() == 15);
}

TEST_CASE("a batch stays within its bytes, but one row always goes") {
  Bench bench(1, 500, 1);
  bench.ready("a", 1);
  bench.ready("b", 2);
  bench.step(kNow);
  REQUIRE(bench.sink.puts.size() == 2);
  CHECK(bench.sink.puts[0].rows.size() == 1);
  CHECK(bench.outbox.ready_count() == 0);
}

TEST_CASE("never two Puts of one window in flight") {
  Bench bench;
  OpenWindow& entry = bench.ready("a", 1);
  bench.step(kNow);
  bench.outbox.changed(entry, {2}, kNow);
  bench.outbox.hurry();
  bench.step(kNow + 100'000);
  REQUIRE(bench.sink.puts.size() == 1);
  bench.answer(0, {}, kNow);
  bench.outbox.hurry();
  bench.step(kNow + 200'000);
  CHECK(bench.sink.puts.size() == 1);
}

TEST_CASE("a batch that may have landed goes again after a pause, and only then") {
  for (const Result<void>& outcome : {Result<void>(unavailable("down")), Result<void>(unknown("cut"))}) {
    Bench bench;
    bench.ready("a", 1);
    bench.step(kNow);
    bench.answer(0, outcome, kNow);
    CHECK(bench.outbox.lowest() == Offset{1});
    CHECK_FALSE(bench.emitter.last_error().empty());
    bench.step(kNow + 49);
    CHECK(bench.sink.puts.empty());
    bench.step(kNow + 100);
    REQUIRE(bench.sink.puts.size() == 1);
    bench.answer(0, {}, kNow + 200);
    CHECK(bench.outbox.size() == 0);
    CHECK(bench.emitter.last_error().empty());
  }
}

TEST_CASE("case 13: 139 failures, then it works: the row lands once") {
  Bench bench;
  bench.ready("a", 1);
  EpochMs now = kNow;
  for (int i = 0; i < 139; ++i) {
    bench.step(now);
    REQUIRE(bench.sink.puts.size() == 1);
    bench.answer(0, i % 2 == 0 ? unknown("cut") : unavailable("down"), now);
    now += 30'000;
  }
  bench.step(now);
  REQUIRE(bench.sink.puts.size() == 1);
  CHECK(bench.sink.puts[0].rows[0].timestamp() == kHour.ms + 1);
  bench.answer(0, {}, now);
  CHECK(bench.outbox.size() == 0);
}

TEST_CASE("a salt that fails goes alone, the others go on") {
  Bench bench(2);
  const std::string sick = device_of_salt(0, 2);
  bench.ready(sick, 1);
  bench.step(kNow);
  bench.answer(0, unknown("cut"), kNow);
  const std::string well = device_of_salt(1, 2);
  const std::string sick_too = device_of_salt(0, 2, 1);
  bench.ready(well, 2);
  bench.ready(sick_too, 3);
  bench.step(kNow + 10);
  CHECK(bench.in_flight() == std::set<std::string>{well});
  bench.step(kNow + 200);
  CHECK(bench.in_flight() == std::set<std::string>{well, sick, sick_too});
}

TEST_CASE("what one salt fails with is told for as long as it is stuck, also while the others land") {
  Bench bench(2);
  bench.ready(device_of_salt(0, 2), 1);
  bench.step(kNow);
  bench.answer(0, unknown("cut"), kNow);
  bench.ready(device_of_salt(1, 2), 2);
  bench.step(kNow + 10);
  bench.answer(0, {}, kNow + 20);
  CHECK(bench.emitter.last_error() == "cut");
  bench.step(kNow + 200);
  REQUIRE(bench.sink.puts.size() == 1);
  bench.answer(0, {}, kNow + 300);
  bench.step(kNow + 400);
  CHECK(bench.emitter.last_error().empty());
  CHECK(bench.counters.put_unknown.get() == 1);
  CHECK(bench.counters.put_unavailable.get() == 0);
}

TEST_CASE("stuck salts do not hold up the healthy ones") {
  Bench bench(32);
  std::int64_t offset = 0;
  for (std::uint8_t salt = 0; salt < 8; ++salt) bench.ready(device_of_salt(salt, 32), offset++);
  bench.step(kNow);
  bench.answer(0, unknown("timeout"), kNow);
  EpochMs now = kNow + 1'000;
  bench.step(now);
  CHECK(bench.sink.puts.size() >= 2);  // suspects, and no answer to come
  const std::string well = device_of_salt(20, 32);
  bench.ready(well, offset);
  bench.step(now + 1);
  CHECK(bench.in_flight().contains(well));
}

TEST_CASE("suspects take turns: a few that always time out do not starve the rest") {
  Bench bench(32);
  std::int64_t offset = 0;
  for (std::uint8_t salt = 0; salt < 12; ++salt) bench.ready(device_of_salt(salt, 32), offset++);
  bench.step(kNow);
  bench.answer(0, unknown("timeout"), kNow);
  const std::string last = device_of_salt(11, 32);
  EpochMs now = kNow + 1'000;
  bool tried = false;
  for (int round = 0; round < 100 && !tried; ++round, now += 60'000) {
    bench.step(now);
    tried = bench.in_flight().contains(last);
    while (!bench.sink.puts.empty()) bench.answer(0, unknown("timeout"), now + 60'000);
  }
  CHECK(tried);
}

TEST_CASE("case 21: a row that can never be written is found by halving and put aside; all others land") {
  Bench bench(1, 16);
  for (int i = 0; i < 40; ++i) bench.ready("d" + std::to_string(i), i);
  EpochMs now = kNow;
  std::set<std::string> landed;
  for (int round = 0; round < 200 && bench.outbox.size() > 0; ++round, now += 31'000) {
    bench.step(now);
    while (!bench.sink.puts.empty()) {
      bool poison = false;
      for (const std::string& device : bench.devices(0)) poison = poison || device == "d13";
      if (!poison) {
        for (const std::string& device : bench.devices(0)) landed.insert(device);
      }
      bench.answer(0, poison ? Result<void>(refused("too large")) : Result<void>(), now);
    }
  }
  CHECK(bench.refused == std::vector<std::string>{"d13: too large"});
  CHECK(landed.size() == 39);
  CHECK(bench.counters.rows_refused.get() == 1);
  CHECK(bench.outbox.size() == 0);
}

TEST_CASE("a batch that keeps failing without a reason is halved as well") {
  Bench bench(1, 16);
  for (int i = 0; i < 16; ++i) bench.ready("d" + std::to_string(i), i);
  EpochMs now = kNow;
  std::set<std::string> landed;
  for (int round = 0; round < 100 && landed.size() < 15; ++round, now += 31'000) {
    bench.step(now);
    while (!bench.sink.puts.empty()) {
      bool poison = false;
      for (const std::string& device : bench.devices(0)) poison = poison || device == "d13";
      if (!poison) {
        for (const std::string& device : bench.devices(0)) landed.insert(device);
      }
      bench.answer(0, poison ? Result<void>(unknown("the connection was cut")) : Result<void>(), now);
    }
  }
  CHECK(landed.size() == 15);
  CHECK(bench.refused.empty());
}

TEST_CASE("a fatal answer stops the partition") {
  Bench bench;
  bench.ready("a", 1);
  bench.step(kNow);
  const auto taken = bench.emitter.take({bench.sink.puts[0].ticket, fatal("not our table")}, kNow);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().message == "not our table");
}
