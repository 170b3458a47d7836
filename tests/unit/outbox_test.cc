#include "pipeline/outbox.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "pipeline/backoff.h"

using namespace hourfold;

namespace {

constexpr HourStart kHour{1'767'222'000'000};
constexpr EmitPolicy kPolicy{60'000, 5'000, 5'000};
using Stage = OpenWindow::Stage;

struct Windows {
  std::vector<std::unique_ptr<DeviceEntry>> devices;
  std::vector<std::unique_ptr<OpenWindow>> windows;

  OpenWindow& add(HourStart hour = kHour, std::uint32_t murmur = 0) {
    devices.push_back(std::make_unique<DeviceEntry>());
    devices.back()->id = "d" + std::to_string(devices.size());
    devices.back()->murmur = murmur;
    windows.push_back(std::make_unique<OpenWindow>(devices.back().get(), hour));
    return *windows.back();
  }
};

}  // namespace

TEST_CASE("when a changed window is due") {
  struct Case {
    EpochMs after_start;
    std::uint64_t hash;
    EpochMs due_after_start;
  };
  const Case cases[] = {
      {0, 0, 60'000},                                 // open: every refresh
      {kHourMs - 120'000, 0, kHourMs - 60'000},       //
      {kHourMs - 60'000, 0, kHourMs},                 //
      {kHourMs - 1, 0, kHourMs + 5'000},              // about to close: the closing itself, after the delay
      {kHourMs - 1, 4'321ULL << 8, kHourMs + 9'321},  // spread by the device
      {kHourMs, 4'321ULL << 8, kHourMs + 5'000},      // closed: the delay alone
      {30 * kHourMs, 0, 30 * kHourMs + 5'000},        // a backfill
      {-10 * kHourMs, 0, -10 * kHourMs + 60'000},     // a device ahead of its time
  };
  for (const Case& c : cases) {
    CAPTURE(c.after_start);
    CHECK(emission_due(kPolicy, kHour, c.hash, kHour.ms + c.after_start) == kHour.ms + c.due_after_start);
  }
  CHECK(emission_due({60'000, 5'000, 0}, kHour, 99'999, kHour.ms + kHourMs - 1) == kHour.end_ms() + 5'000);
}

TEST_CASE("the first change decides when a window goes; all readings until then go with it") {
  Outbox outbox(kPolicy, 1);
  Windows windows;
  OpenWindow& entry = windows.add();
  const EpochMs late = kHour.ms + 10 * kHourMs;
  outbox.changed(entry, {7}, late);
  outbox.changed(entry, {8}, late + 4'000);
  outbox.changed(entry, {9}, late + 4'900);
  outbox.step(late + 4'899);
  CHECK(outbox.ready_count() == 0);
  outbox.step(late + 5'100);
  CHECK(outbox.ready_count() == 1);
  CHECK(outbox.lowest() == Offset{7});
  CHECK(outbox.size() == 1);
  outbox.sent(entry);
  CHECK(outbox.ready_count() == 0);
  CHECK(outbox.lowest() == Offset{7});
  outbox.acknowledged(entry, late + 6'000);
  CHECK(outbox.size() == 0);
  CHECK_FALSE(outbox.lowest());
  CHECK_FALSE(entry.must_stay());
}

TEST_CASE("what changes in flight goes with the next Put and holds its own offset") {
  Outbox outbox(kPolicy, 1);
  Windows windows;
  OpenWindow& entry = windows.add();
  const EpochMs late = kHour.ms + 10 * kHourMs;
  outbox.changed(entry, {7}, late);
  outbox.hurry();
  outbox.sent(entry);
  outbox.changed(entry, {12}, late + 1);
  outbox.changed(entry, {13}, late + 2);
  CHECK(outbox.lowest() == Offset{7});
  outbox.hurry();
  CHECK(outbox.ready_count() == 0);  // one Put of a window at a time
  outbox.acknowledged(entry, late + 100);
  CHECK(outbox.lowest() == Offset{12});
  CHECK(entry.stage == Stage::kScheduled);
  outbox.step(late + 5'200);
  CHECK(outbox.ready(0).begin()->first == Offset{12});
}

TEST_CASE("an unknown outcome puts the window back under the older offset") {
  Outbox outbox(kPolicy, 1);
  Windows windows;
  OpenWindow& entry = windows.add();
  outbox.changed(entry, {7}, 0);
  outbox.hurry();
  outbox.sent(entry);
  outbox.changed(entry, {12}, 1);
  outbox.returned(entry);
  CHECK(outbox.lowest() == Offset{7});
  CHECK(outbox.ready_count() == 1);
  CHECK(outbox.size() == 1);
  outbox.changed(entry, {13}, 2);
  outbox.sent(entry);
  outbox.acknowledged(entry, 3);
  CHECK(outbox.size() == 0);
}

TEST_CASE("ready windows leave by their first offset, not by hour") {
  Outbox outbox(kPolicy, 1);
  Windows windows;
  OpenWindow& new_hour = windows.add({kHour.ms + 5 * kHourMs});
  OpenWindow& old_hour = windows.add(kHour);
  OpenWindow& middle = windows.add({kHour.ms + kHourMs});
  outbox.changed(middle, {5}, 0);
  outbox.changed(old_hour, {9}, 0);
  outbox.changed(new_hour, {3}, 0);
  outbox.hurry();
  std::vector<OpenWindow*> order;
  for (const auto& [offset, entry] : outbox.ready(0)) order.push_back(entry);
  CHECK(order == std::vector<OpenWindow*>{&new_hour, &middle, &old_hour});
}

TEST_CASE("ready windows lie by salt") {
  Outbox outbox(kPolicy, 4);
  Windows windows;
  for (std::uint32_t i = 0; i < 10; ++i)
    outbox.changed(windows.add(kHour, i), {static_cast<std::int64_t>(i)}, 0);
  outbox.hurry();
  CHECK(outbox.salts() == 4);
  CHECK(outbox.ready(0).size() == 3);
  CHECK(outbox.ready(1).size() == 3);
  CHECK(outbox.ready(2).size() == 2);
  CHECK(outbox.ready_count() == 10);
}

TEST_CASE("a refused window holds nothing and goes again when it changes") {
  Outbox outbox(kPolicy, 1);
  Windows windows;
  OpenWindow& entry = windows.add();
  outbox.changed(entry, {7}, 0);
  outbox.hurry();
  outbox.sent(entry);
  outbox.refused(entry, 1);
  CHECK_FALSE(outbox.lowest());
  CHECK(entry.refused);
  CHECK(entry.must_stay());
  CHECK(entry.pending_mark() == OpenWindow::kRefusedMark);
  outbox.changed(entry, {20}, 2);
  CHECK_FALSE(entry.refused);
  CHECK(outbox.lowest() == Offset{20});
  outbox.hurry();
  outbox.sent(entry);
  outbox.changed(entry, {21}, 3);
  outbox.refused(entry, 4);
  CHECK_FALSE(entry.refused);  // it changed in the meantime
  CHECK(outbox.lowest() == Offset{21});
}

TEST_CASE("refused windows are let go past their bound, the oldest hours first, and below an hour") {
  Outbox outbox(kPolicy, 1);
  Windows windows;
  std::vector<OpenWindow*> entries;
  for (const int hour : {3, 1, 2, 0}) {
    OpenWindow& entry = windows.add({kHour.ms + hour * kHourMs});
    entries.push_back(&entry);
    outbox.changed(entry, {hour}, 0);
    outbox.hurry();
    outbox.sent(entry);
    outbox.refused(entry, 1);
  }
  CHECK(outbox.refused_count() == 4);
  CHECK(outbox.release_refused(kHour, 4).empty());
  CHECK(outbox.release_refused(HourStart::lowest(), 3) == std::vector<OpenWindow*>{entries[3]});
  CHECK_FALSE(entries[3]->must_stay());
  outbox.changed(*entries[1], {9}, 2);  // it goes again
  CHECK(outbox.refused_count() == 2);
  CHECK(outbox.release_refused({kHour.ms + 3 * kHourMs}, 4) == std::vector<OpenWindow*>{entries[2]});
  CHECK(entries[0]->refused);
}

TEST_CASE("a restored window is emitted even if no reading ever comes") {
  Outbox outbox(kPolicy, 1);
  Windows windows;
  OpenWindow& entry = windows.add();
  const EpochMs now = kHour.ms + 2 * kHourMs;
  outbox.restore(entry, {4}, now);
  CHECK(outbox.lowest() == Offset{4});
  outbox.step(now + 5'100);
  CHECK(outbox.ready_count() == 1);
}

TEST_CASE("back-off doubles from 100 ms to 30 s, with jitter of at most a half") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Backoff backoff(seed);
    CHECK(backoff.ready(0));
    EpochMs ceiling = 100;
    EpochMs now = 1'000;
    for (int i = 0; i < 40; ++i) {
      backoff.failed(now);
      CHECK(backoff.until_ms() >= now + ceiling / 2);
      CHECK(backoff.until_ms() <= now + ceiling);
      CHECK_FALSE(backoff.ready(now));
      CHECK(backoff.ready(backoff.until_ms()));
      now = backoff.until_ms();
      ceiling = std::min<EpochMs>(ceiling * 2, 30'000);
    }
    CHECK(backoff.failures() == 40);
    backoff.succeeded();
    CHECK(backoff.ready(0));
    backoff.failed(0);
    CHECK(backoff.until_ms() <= 100);
  }
}

TEST_CASE("back-offs of different seeds do not go in step") {
  Backoff a(1);
  Backoff b(1'000'004);
  bool differ = false;
  for (int i = 0; i < 10; ++i) {
    a.failed(0);
    b.failed(0);
    differ = differ || a.until_ms() != b.until_ms();
  }
  CHECK(differ);
}
