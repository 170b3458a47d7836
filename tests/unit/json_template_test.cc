// A template reads what it knows, and whatever it reads the parser without templates reads the same way.
#include "payload/json_template.h"

#include <doctest/doctest.h>

#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/config.h"
#include "payload/json_parser.h"
#include "tests/unit/parsed_record_text.h"

namespace hourfold {
namespace {

constexpr EpochMs kArrival = 1'767'225'600'000;

PointerTree canonical() {
  PointerTree tree;
  tree.add("/metrics", PointerTree::Role::kMetrics);
  tree.add("/ts", PointerTree::Role::kTime);
  tree.add("/device", PointerTree::Role::kDevice);
  return tree;
}

std::unique_ptr<JsonTemplate> learned(const std::string& text) {
  JsonParser parser(ReadingShape{}, false);
  const ParsedRecord& record = parser.parse({text, std::nullopt, kArrival});
  Arena arena;
  JsonTokens tokens(arena);
  std::string padded = text;
  padded.reserve(text.size() + JsonTokens::kPadding);
  REQUIRE(tokens.tokenize(padded));
  return JsonTemplate::learn(padded, tokens, canonical(), record);
}

TEST_CASE("what is learned, and what is not") {
  CHECK(learned(R"({"device":"d","ts":5,"metrics":{"t":1}})"));
  CHECK(learned(
      R"( { "seq" : 7 , "device":"d","ts":5,"x":"text","y":true,"metrics":{"t":1,"u":null,"v":-2.5} })"));
  CHECK(learned(R"({"device":"d","ts":5,"metrics":{}})"));
  CHECK(learned(
      R"({"device":"d","ts":5,"metrics":{"t":1},"tags":[1,"x",[],{}],"o":{"a":{"b":[true]},"c":"d"}})"));
  CHECK(!learned(R"({"device":"d","ts":5,"metrics":{"t":1,"t":2}})"));
  CHECK(!learned(R"({"device":"d","ts":5,"ts":6,"metrics":{"t":1}})"));
  CHECK(!learned(R"({"device":7,"ts":5,"metrics":{"t":1}})"));
  CHECK(!learned(R"({"device":"d","ts":5,"metrics":{"t":1,"s":"x"}})"));
  CHECK(!learned(R"({"device":"d","ts":5,"metrics":{"t":1,"a":{"x":1}}})"));
  CHECK(!learned(R"({"device":"d","ts":5,"metrics":{"t":1},"metrics":{"t":1}})"));
  CHECK(!learned("{\"device\":\"d\\u0031\",\"ts\":5,\"metrics\":{\"t\":1}}"));
  CHECK(!learned(R"({"device":"d","ts":5,"metrics":{"t":1}}{"device":"d","ts":5,"metrics":{"t":1}})"));
  CHECK(!learned(R"([{"device":"d","ts":5,"metrics":{"t":1}}])"));
}

TEST_CASE("what a template reads, and what it leaves") {
  const auto known = learned(R"({"device":"d","ts":5,"seq":1,"metrics":{"t":1,"u":2}})");
  REQUIRE(known);
  const auto reads = [&](const std::string& text) {
    JsonTemplate::Fields fields;
    std::vector<Metric> metrics;
    return known->read(text, fields, metrics);
  };
  CHECK(reads(R"({"device":"dev-2","ts":1767225600123,"seq":-1.5,"metrics":{"t":-21.75,"u":0}})"));
  CHECK(reads(R"({"device":"","ts":5,"seq":1,"metrics":{"t":1,"u":2}})"));
  for (const char* other : {
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":1,"u":2}} )",
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":1,"u":2}}x)",
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":1,"v":2}})",
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":1,"u":2)",
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":1e3,"u":2}})",
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":1.,"u":2}})",
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":01,"u":2}})",
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":12345678901234567890,"u":2}})",
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":null,"u":2}})",
           R"({"device":"d","ts":5,"seq":1,"metrics":{"t":,"u":2}})",
           R"({"device":"d","ts":5.5,"seq":1,"metrics":{"t":1,"u":2}})",
           R"({"device":"d","ts":-5,"seq":1,"metrics":{"t":1,"u":2}})",
           R"({"device":"d","ts":05,"seq":1,"metrics":{"t":1,"u":2}})",
           R"({"device":"d\"","ts":5,"seq":1,"metrics":{"t":1,"u":2}})",
           "{\"device\":\"\xc3\xa9\",\"ts\":5,\"seq\":1,\"metrics\":{\"t\":1,\"u\":2}}",
           "{\"device\":\"d\x7f\",\"ts\":5,\"seq\":1,\"metrics\":{\"t\":1,\"u\":2}}",
           "",
           "}}",
           "{\"device\":\"",
       }) {
    CAPTURE(std::string(other));
    CHECK(!reads(other));
  }
}

TEST_CASE("a text as the last value does not run out of the record") {
  const auto known = learned(R"({"ts":5,"metrics":{"t":1},"device":"d"})");
  REQUIRE(known);
  JsonTemplate::Fields fields;
  std::vector<Metric> metrics;
  CHECK(known->read(R"({"ts":5,"metrics":{"t":1},"device":"abc"})", fields, metrics));
  CHECK(*fields.device == "abc");
  CHECK(!known->read(R"({"ts":5,"metrics":{"t":1},"device":"})", fields, metrics));
  CHECK(known->read(R"({"ts":5,"metrics":{"t":1},"device":""})", fields, metrics));
}

// Records as a fleet of several kinds of devices sends them, one in three not as it should be.
class Fleet {
 public:
  explicit Fleet(std::uint32_t seed) : random_(seed) {}

  std::string next() {
    std::string text = record(below(7));
    while (below(3) == 0) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::string number() {
    static const char* const odd[] = {"-0",
                                      "1e3",
                                      "0.1",
                                      "9007199254740993",
                                      "null",
                                      "NaN",
                                      "\"x\"",
                                      "1e400",
                                      "123456789.123456789",
                                      "1234567890.1234567890",
                                      "00",
                                      "-",
                                      "true",
                                      "{\"a\":1}"};
    if (below(12) == 0) return odd[below(std::size(odd))];
    std::string text = std::to_string(static_cast<int>(below(20'000)) - 10'000);
    return below(2) == 0 ? text : text + "." + std::to_string(below(1000));
  }

  std::string record(std::size_t kind) {
    const std::string device = "\"dev-" + std::to_string(below(50)) + "\"";
    const std::string time = std::to_string(kArrival + static_cast<EpochMs>(below(100'000)));
    switch (kind) {
      case 0:
        return R"({"device":)" + device + R"(,"ts":)" + time + R"(,"metrics":{"t":)" + number() + "}}";
      case 1:
        return R"({"device":)" + device + R"(,"ts":)" + time + R"(,"metrics":{"t":)" + number() + R"(,"h":)" +
               number() + "}}";
      case 2:
        return R"({"seq":)" + number() + R"(,"metrics":{"a":)" + number() + R"(},"ts":)" + time +
               R"(,"device":)" + device + "}";
      case 3:
        return R"({"device":)" + device + R"(,"ts":)" + number() + R"(,"metrics":{"t":)" + number() +
               R"(,"n":null}})";
      case 4:
        return R"({"device": )" + device + R"(, "ts": )" + time + R"(, "fw": "1.2", "metrics": {"t": )" +
               number() + "}}\n";
      case 5:
        return R"({"tags":["a",)" + number() + R"(,{"x":"y"}],"device":)" + device + R"(,"ts":)" + time +
               R"(,"metrics":{"t":)" + number() + "}}";
      default:
        return R"({"device":)" + device + R"(,"ts":)" + time + R"(,"metrics":{"t":)" + number() + R"(,"t":)" +
               number() + "}}";
    }
  }

  void mutate(std::string& text) {
    static constexpr std::string_view kBytes = "{}[],:\"\\0123456789.-+eE \n\x01\x7f\xff";
    if (text.empty()) return;
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = kBytes[below(kBytes.size())];
        break;
      case 1:
        text.insert(at, 1, kBytes[below(kBytes.size())]);
        break;
      case 2:
        text.erase(at, 1 + below(4));
        break;
      default:
        text.resize(at);
    }
  }

  std::mt19937 random_;
};

TEST_CASE("with and without templates: the same of every record") {
  const char* const sections[] = {"{}", R"({"device":"key"})", R"({"metrics":"","time_unit":"s"})",
                                  R"({"arrival":"/ts","time":"/seq"})",
                                  R"({"time":"record","numeric_strings":true,"booleans":true})"};
  for (const char* section : sections) {
    CAPTURE(std::string(section));
    const auto config = parse_config("{\"reading\":" + std::string(section) + "}", "test", {}, {}, false);
    REQUIRE(static_cast<bool>(config));
    JsonParser learning(config->reading.shape, true);
    JsonParser plain(config->reading.shape, false);
    Fleet fleet(7);
    for (int i = 0; i < 60'000; ++i) {
      const std::string text = fleet.next();
      // In memory of exactly its size.
      const std::vector<char> exact(text.begin(), text.end());
      const RecordView record{{exact.data(), exact.size()}, "k1", kArrival};
      const std::string expected = describe(plain.parse(record));
      const std::string outcome = describe(learning.parse(record));
      if (outcome == expected) continue;
      CAPTURE(text);
      REQUIRE(outcome == expected);
    }
  }
}

}  // namespace
}  // namespace hourfold
