// Golden bytes of the seen times; computed by an independent script from docs/FORMATS.md.
#include "core/seen_times.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "support/hex.h"
#include "support/random.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

SeenTimes of(const std::vector<std::uint32_t>& times) {
  SeenTimes seen;
  for (const std::uint32_t time : times) seen.insert(time);
  return seen;
}

std::string encoded(const SeenTimes& seen) {
  std::string out;
  seen.append_to(out);
  return out;
}

std::optional<SeenTimes> decoded(const std::string& bytes) {
  ByteReader in(bytes);
  auto seen = SeenTimes::read_from(in);
  return seen && in.at_end() ? seen : std::nullopt;
}

std::vector<std::uint32_t> every(std::uint32_t distance, std::uint32_t first, std::size_t count) {
  std::vector<std::uint32_t> times;
  for (std::size_t i = 0; i < count; ++i) times.push_back(first + distance * static_cast<std::uint32_t>(i));
  return times;
}

}  // namespace

TEST_CASE("golden bytes of seen times") {
  struct Case {
    std::vector<std::uint32_t> times;
    const char* bytes;
  };
  const std::vector<Case> cases{
      {{}, "00 00"},
      {{0}, "01 01 00"},
      {{5}, "01 01 05"},
      {{3'599'999}, "01 01 ffdcdb01"},
      {every(10'000, 10'000, 2), "00 01 904e 02"},         // a tie of lengths would be runs, too
      {every(10'000, 123, 360), "00 02 7b 01 904e e702"},  // the usual device: one time every ten seconds
      {every(1'000, 0, 3600), "00 02 00 01 e807 8f1c"},    // the first distance is the time itself, here 0
      {{100, 1'000, 3'000}, "01 03 64 8407 d00f"},         // no cadence: the plain distances are shorter
      {{0, 1, 2, 3}, "00 02 00 01 01 03"},
      {{0, 1, 2}, "01 03 00 01 01"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.bytes);
    CHECK(hex(encoded(of(c.times))) == hex(unhex(c.bytes)));
    CHECK(decoded(unhex(c.bytes)) == of(c.times));
  }
}

TEST_CASE("bytes that are none are refused") {
  for (const char* bytes :
       {"", "00", "02 00", "00 01 05", "00 01 05 00", "01 02 05", "01 02 05 00", "01 01 80dddb01",
        "00 01 01 80dddb01", "00 01 00 02", "01 ffffffffffffffffff01 00", "00 02 05 01 00 01",
        "01 01 8080808080808080808001",
        // Sound, but not as append_to() writes them.
        "01 00", "01 02 05 05", "00 01 05 01", "00 02 904e 01 904e 02", "01 01 8500", "00 8100 05 03"}) {
    CAPTURE(bytes);
    CHECK_FALSE(decoded(unhex(bytes)));
  }
}

TEST_CASE("any order of insertion gives the same set and the same bytes") {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::set<std::uint32_t> want;
    SeenTimes seen;
    const std::uint32_t grid = random.pick<std::uint32_t>({1, 7, 1'000, 60'000});
    for (std::size_t i = random.below(200); i > 0; --i) {
      const auto time = static_cast<std::uint32_t>(random.below(3'600'000 / grid)) * grid;
      CHECK(seen.insert(time) == want.insert(time).second);
    }
    const SeenTimes ordered = of({want.begin(), want.end()});
    CHECK(seen == ordered);
    CHECK(seen.hash() == ordered.hash());
    CHECK(encoded(seen) == encoded(ordered));
    CHECK(decoded(encoded(seen)) == seen);
    for (int i = 0; i < 20; ++i) {
      const auto time = static_cast<std::uint32_t>(random.below(3'600'000 / grid)) * grid;
      CHECK(seen.contains(time) == want.contains(time));
      CHECK(seen.is_after_all(time) == (want.empty() || time > *want.rbegin()));
    }
  }
}

TEST_CASE("a later time lengthens the encoding by no more than the bound says, counts aside") {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    SeenTimes seen;
    std::size_t worst = 0;
    std::uint32_t time = 0;
    for (std::size_t added = 1; added < 400; ++added) {
      time += random.chance(.5) ? 1'000 : static_cast<std::uint32_t>(1 + random.below(9'000));
      if (time >= 3'600'000) break;
      seen.insert(time);
      worst = added * SeenTimes::kMaxBytesPerTime + 8;
      REQUIRE(encoded(seen).size() <= worst);
    }
  }
}

TEST_CASE("a time among others lengthens the encoding by no more than its bound says") {
  Random random(12);
  for (int round = 0; round < 200; ++round) {
    // Runs of one distance, which a time in the midst of them breaks.
    SeenTimes seen;
    const auto distance = static_cast<std::uint32_t>(random.pick({2, 100, 128, 16'384, 20'000}));
    for (std::uint32_t time = 0; time < 3'000'000 && seen.size() < 5'000; time += distance) seen.insert(time);
    for (int added = 0; added < 30; ++added) {
      const std::size_t before = encoded(seen).size();
      seen.insert(static_cast<std::uint32_t>(random.below(3'600'000)));
      REQUIRE(encoded(seen).size() <= before + SeenTimes::kMaxBytesAmongOthers);
    }
  }
}

TEST_CASE("a regular device's hour costs a handful of bytes") {
  CHECK(encoded(of(every(1'000, 17, 3'599))).size() < 12);
}

TEST_CASE("no time adds more than its bound to the encoding") {
  const auto size = [](const SeenTimes& seen) {
    std::string bytes;
    seen.append_to(bytes);
    return bytes.size();
  };
  std::size_t most = 0;
  for (const std::uint32_t cadence : {7U, 1'000U, 10'000U, 32'768U, 60'000U, 1'700'000U}) {
    SeenTimes steady;
    for (std::uint32_t time = 0; time < 3'600'000; time += cadence) {
      const std::size_t before = size(steady);
      steady.insert(time);
      most = std::max(most, size(steady) - std::min(before, size(steady)));
      if (steady.size() > 400) break;
    }
    // Each in a run that is whole until then, here and there over the hour.
    for (std::uint32_t i = 0; i < 60; ++i) {
      SeenTimes seen = steady;
      for (std::uint32_t k = 0; k < 20; ++k) {
        const std::size_t before = size(seen);
        seen.insert((i * 61'403 + k * 176'819 + cadence / 2) % 3'600'000);
        most = std::max(most, size(seen) - std::min(before, size(seen)));
      }
    }
  }
  CHECK(most <= SeenTimes::kMaxBytesAmongOthers);
  CHECK(most > 8);  // it is no idle bound
}
