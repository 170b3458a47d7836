// Golden bytes of what the window store keeps besides windows; computed by an independent script from
// docs/FORMATS.md.
#include "core/state_codec.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/hex.h"
#include "support/random.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

WaitingReading waiting() {
  WaitingReading reading;
  reading.position = {{42}, 3};
  reading.device = "dev-1";
  reading.event_ms = 1'767'225'600'123;
  reading.arrival_ms = 1'767'225'600'456;
  reading.metrics = {{"temp_c", 21.5}, {"b", -0.0}};
  reading.original = {1'767'225'600'456, "dev-1", "{}", {{"h", "x"}, {"e", std::nullopt}}};
  return reading;
}

constexpr const char* kWaiting =
    "01 05 6465762d31 0000019b76daa87b 0000019b76daa9c8 02 06 74656d705f63 4035800000000000 01 62 "
    "8000000000000000"
    "0000019b76daa9c8 01 05 6465762d31 01 02 7b7d 02 01 68 01 01 78 01 65 00";

std::string encoded(const WaitingReading& reading) {
  std::string out;
  append_waiting_reading(out, reading);
  return out;
}

StateMarks marks() {
  StateMarks marks;
  marks.next_offset = {1'000};
  marks.look_below = {1'767'222'000'000};
  marks.expire_below = {1'767'218'400'000};
  marks.highest_arrival_ms = 1'767'225'600'456;
  marks.hours = HourTrack({1'767'218'400'000});
  marks.hours.accept({990}, {1'767'222'000'000});
  marks.hours.accept({995}, {1'767'225'600'000});
  marks.last_folded = FoldedRecord{{998}, 1'767'225'600'400};
  marks.partition_count = 8;
  marks.generation = {2};
  marks.fingerprint = "00112233aabbccdd";
  marks.lost = {{{5}, {9}}};
  marks.fingerprint_changes = {{{700}, "ffffffffffffffff"}};
  return marks;
}

}  // namespace

TEST_CASE("golden bytes of a waiting reading") {
  CHECK(hex(encoded(waiting())) == hex(unhex(kWaiting)));
  WaitingReading least;
  least.device = "d";
  CHECK(hex(encoded(least)) ==
        hex(unhex("01 01 64 0000000000000000 0000000000000000 00 ffffffffffffffff 00 00 00")));
}

TEST_CASE("a waiting reading reads back") {
  const auto read = read_waiting_reading({{42}, 3}, unhex(kWaiting));
  REQUIRE(read);
  CHECK(read->position == Position{{42}, 3});
  CHECK(read->device == "dev-1");
  CHECK(read->event_ms == 1'767'225'600'123);
  CHECK(read->arrival_ms == 1'767'225'600'456);
  CHECK(read->metrics == waiting().metrics);
  CHECK(read->original == waiting().original);
  CHECK(hex(encoded(*read)) == hex(unhex(kWaiting)));
}

TEST_CASE("waiting readings that are none are refused") {
  const std::string bytes = unhex(kWaiting);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(read_waiting_reading({}, bytes.substr(0, size)));
  }
  CHECK_FALSE(read_waiting_reading({}, bytes + '\0'));
  std::string neither = bytes;
  neither[neither.size() - 1] = 2;  // whether the last header has a value
  CHECK_FALSE(read_waiting_reading({}, neither + unhex("01 78")));
  std::string newer = bytes;
  newer[0] = 2;
  const auto read = read_waiting_reading({}, newer);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("newer") != std::string::npos);
  Random random(23);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    damaged[random.below(damaged.size())] = static_cast<char>(random.next());
    (void)read_waiting_reading({}, damaged);
  }
}

TEST_CASE("a waiting reading as canonical JSON, numbers that read back exactly") {
  WaitingReading reading = waiting();
  CHECK(to_canonical_json(reading) ==
        R"({"device":"dev-1","ts":1767225600123,"metrics":{"temp_c":21.5,"b":-0.0}})");
  reading.device = "q\"\\\xc3\xa4";
  reading.metrics = {{"x.y", 0.1}, {"big", 1e300}, {"tiny", 5e-324}};
  CHECK(to_canonical_json(reading) ==
        "{\"device\":\"q\\\"\\\\\xc3\xa4\",\"ts\":1767225600123,\"metrics\":{\"x.y\":0.1,\"big\":1e+300,"
        "\"tiny\":5e-324}}");
}

TEST_CASE("golden text of the marks") {
  CHECK(
      write_state_marks(marks()) ==
      R"({"expire_below":"1767218400000","fingerprint":"00112233aabbccdd","fingerprint_changes":[[700,"ffffffffffffffff"]],)"
      R"("generation":2,"highest_arrival":1767225600456,"highest_hour":"1767218400000",)"
      R"("hour_rises":[[990,1767222000000],[995,1767225600000]],"last_folded":[998,1767225600400],"look_below":"1767222000000",)"
      R"("lost":[[5,9]],"next_offset":1000,"partition_count":8,"version":1})");
  CHECK(
      write_state_marks(StateMarks()) ==
      R"({"expire_below":"none","fingerprint":"","generation":0,"highest_arrival":0,"highest_hour":"none","look_below":"none",)"
      R"("next_offset":0,"partition_count":0,"version":1})");
}

TEST_CASE("marks read back") {
  for (const StateMarks& written : {marks(), StateMarks()}) {
    const auto read = read_state_marks(write_state_marks(written));
    REQUIRE(read);
    CHECK(write_state_marks(*read) == write_state_marks(written));
    CHECK(read->next_offset == written.next_offset);
    CHECK(read->last_folded == written.last_folded);
    CHECK(read->lost == written.lost);
    CHECK(read->hours.rises() == written.hours.rises());
    CHECK(read->hours.base() == written.hours.base());
  }
  StateMarks unknown;
  unknown.look_below = HourStart::highest();
  unknown.hours = HourTrack(HourStart::highest());
  const auto read = read_state_marks(write_state_marks(unknown));
  REQUIRE(read);
  CHECK(read->look_below == HourStart::highest());
  CHECK(read->hours.highest() == HourStart::highest());
}

TEST_CASE("golden text of a rebuild's marks, and they read back") {
  StateMarks marks;
  RebuildMarks& rebuild = marks.rebuild.emplace();
  CHECK(
      write_state_marks(marks).find(
          R"("rebuild":{"end":0,"held":[],"only_whole":false,"released":["none",""],"whole_from":"none"})") !=
      std::string::npos);
  CHECK(read_state_marks(write_state_marks(marks))->rebuild == rebuild);
  rebuild = {{1'000},
             {1'767'222'000'000},
             true,
             {{1'767'225'600'000}, "z\u00e4hler"},
             {{{1'767'225'600'000}, {990}}, {{1'767'229'200'000}, {5}}}};
  CHECK(write_state_marks(marks).find(
            R"("rebuild":{"end":1000,"held":[[1767225600000,990],[1767229200000,5]],"only_whole":true,)"
            R"("released":["1767225600000","zähler"],"whole_from":"1767222000000"})") != std::string::npos);
  CHECK(read_state_marks(write_state_marks(marks))->rebuild == rebuild);
  rebuild.released = {HourStart::highest(), ""};
  CHECK(read_state_marks(write_state_marks(marks))->rebuild == rebuild);
  std::string wrong = write_state_marks(marks);
  wrong.replace(wrong.find("1767222000000"), 13, "1767222000001");
  CHECK_FALSE(read_state_marks(wrong));
}

TEST_CASE("marks that cannot be read are fatal, never guessed") {
  const std::string good = write_state_marks(marks());
  std::string newer = good;
  newer.replace(newer.find("\"version\":1"), 11, "\"version\":2");
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("null"), good.substr(0, good.size() / 2), newer}) {
    CAPTURE(text);
    const auto read = read_state_marks(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ErrorKind::kFatal);
  }
}

TEST_CASE("marks with numbers that nobody writes are fatal") {
  const std::string good = write_state_marks(marks());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"version\":1", "\"version\":0"},
           {"\"version\":1", "\"version\":1.0"},
           {"\"next_offset\":1000", "\"next_offset\":1000.5"},
           {"\"next_offset\":1000", "\"next_offset\":1e300"},
           {"\"next_offset\":1000", "\"next_offset\":9223372036854775808"},
           {"\"partition_count\":8", "\"partition_count\":4294967304"},
           {"\"partition_count\":8", "\"partition_count\":-1"},
           {"\"generation\":2", "\"generation\":-2"},
           {"[995,", "[989,"},                      // offsets of rises go up
           {"1767225600000]]", "1767225600001]]"},  // an hour begins on the hour
           {"1767225600000]]", "1767222000000]]"},  // and so do their hours
           {"\"1767222000000\"", "\"-9223372036854775808\""}}) {
    CAPTURE(to);
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const auto read = read_state_marks(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ErrorKind::kFatal);
  }
}

TEST_CASE("metadata with numbers that nobody writes knows nothing") {
  for (const char* text :
       {"hourfold/1 hour=none partitions=-1 rules= .", "hourfold/1 hour=none partitions=4294967304 rules= .",
        "hourfold/1 hour=none partitions= rules= .",
        "hourfold/1 hour=-9223372036854775808 partitions=1 rules= ."}) {
    CAPTURE(text);
    const CommitMetadata read = read_commit_metadata(text);
    CHECK(read.highest_hour == HourStart::highest());
    CHECK(read.partition_count == 0);
  }
}

TEST_CASE("golden text of the commit's metadata") {
  CommitMetadata metadata;
  metadata.highest_hour = {1'767'222'000'000};
  metadata.partition_count = 8;
  metadata.last_folded = FoldedRecord{{998}, 1'767'225'600'400};
  metadata.fingerprint = "00112233aabbccdd";
  const std::string text =
      "hourfold/1 hour=1767222000000 partitions=8 folded=998@1767225600400 rules=00112233aabbccdd .";
  CHECK(write_commit_metadata(metadata) == text);
  const CommitMetadata read = read_commit_metadata(text);
  CHECK(read.highest_hour == metadata.highest_hour);
  CHECK(read.partition_count == 8);
  CHECK(read.last_folded == metadata.last_folded);
  CHECK(read.fingerprint == metadata.fingerprint);
  metadata.last_folded.reset();
  metadata.highest_hour = HourStart::lowest();
  CHECK(write_commit_metadata(metadata) == "hourfold/1 hour=none partitions=8 rules=00112233aabbccdd .");
  CHECK(read_commit_metadata(write_commit_metadata(metadata)).highest_hour == HourStart::lowest());
  metadata.rebuild.emplace().end = {1'000};
  CHECK(write_commit_metadata(metadata) ==
        "hourfold/1 hour=none partitions=8 rebuild=1000@none@all rules=00112233aabbccdd .");
  CHECK(read_commit_metadata(write_commit_metadata(metadata)).rebuild == metadata.rebuild);
  metadata.rebuild->whole_from = {1'767'222'000'000};
  metadata.rebuild->only_whole = true;
  CHECK(write_commit_metadata(metadata) ==
        "hourfold/1 hour=none partitions=8 rebuild=1000@1767222000000@whole rules=00112233aabbccdd .");
  CHECK(read_commit_metadata(write_commit_metadata(metadata)).rebuild == metadata.rebuild);
  CHECK(write_commit_metadata({}) == "hourfold/1 hour=unknown partitions=0 rules= .");
}

TEST_CASE("metadata that is not ours is unknown knowledge") {
  const std::string good =
      "hourfold/1 hour=1767222000000 partitions=8 folded=998@1767225600400 rules=00112233aabbccdd .";
  std::vector<std::string> texts{"",
                                 " .",
                                 "hourfold/1 .",
                                 "hourfold/2 hour=none partitions=8 rules=x .",
                                 "hourfold/1 partitions=8 rules=x .",
                                 "hourfold/1 hour=12345 partitions=8 rules=x .",
                                 "hourfold/1 hour= .",
                                 "hourfold/1 hour .",
                                 "some other program",
                                 "hourfold/1 hour=none folded=1 rules=x .",
                                 "hourfold/1 hour=none folded=@ rules=x .",
                                 "hourfold/1 hour=none rebuild=1 rules=x .",
                                 "hourfold/1 hour=none rebuild=1@none rules=x .",
                                 "hourfold/1 hour=none rebuild=1@12345@all rules=x .",
                                 "hourfold/1 hour=none rebuild=1@none@onto rules=x .",
                                 "hourfold/1  ."};
  for (std::size_t size = 0; size < good.size(); ++size) texts.push_back(good.substr(0, size));
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(read_commit_metadata(text).highest_hour == HourStart::highest());
  }
}

TEST_CASE("the highest hour before an offset") {
  HourTrack track({100 * kHourMs});
  track.accept({10}, {90 * kHourMs});  // lower: no news
  track.accept({20}, {101 * kHourMs});
  track.accept({20}, {102 * kHourMs});
  track.accept({30}, {105 * kHourMs});
  struct Case {
    std::int64_t offset;
    std::int64_t hour;
  };
  const std::vector<Case> cases{{0, 100}, {20, 100}, {21, 102}, {30, 102}, {31, 105}, {1'000, 105}};
  for (const Case& c : cases) CHECK(track.before({c.offset}).ms == c.hour * kHourMs);
  track.forget_before({30});
  CHECK(track.base().ms == 102 * kHourMs);
  CHECK(track.rises().size() == 1);
  for (const Case& c : cases) {
    if (c.offset >= 30) CHECK(track.before({c.offset}).ms == c.hour * kHourMs);
  }
  HourTrack unknown(HourStart::highest());
  unknown.accept({1}, {100 * kHourMs});
  CHECK(unknown.before({5}) == HourStart::highest());
}
