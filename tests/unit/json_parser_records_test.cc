// The rules of docs/FORMATS.md, "A reading", as tables of cases: devices, times, records and limits.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "payload/json_parser.h"
#include "tests/unit/json_parser_cases.h"

namespace hourfold {
namespace {

using namespace std::string_view_literals;

TEST_CASE("devices") {
  const std::string longest(256, 'd');
  const Case cases[] = {
      {R"("dev-1")", "dev-1@5 t=1"},
      {R"("d\u00e9\t")", "d\xc3\xa9\t@5 t=1"},
      {"42", "42@5 t=1"},
      {"-5", "-5@5 t=1"},
      {"-0", "-0@5 t=1"},
      {"123456789012345678901234567890 ", "123456789012345678901234567890@5 t=1"},
      {"\"" + longest + "\"", longest + "@5 t=1"},
      {"\"" + longest + "d\"", "!bad_device"},
      {std::string(257, '1'), "!bad_device"},
      {R"("")", "!bad_device"},
      {R"("a\u0000b")", "!bad_device"},
      {"1.5", "!bad_device"},
      {"1e3", "!bad_device"},
      {"true", "!bad_device"},
      {"{}", "!bad_device"},
      {R"(["d"])", "!bad_device"},
      {"null", "!no_device"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(outcome_of(with_device(c.text)) == c.outcome);
  }
  CHECK(outcome_of(R"({"ts":5,"metrics":{"t":1}})") == "!no_device");
  CHECK(outcome_of(with_device("\"a\xff\"")) == "!bad_utf8");
  CHECK(outcome_of(with_device("\"\xed\xa0\x80\"")) == "!bad_utf8");
  CHECK(outcome_of(with_device("\"\xc0\x80\"")) == "!bad_utf8");
}

TEST_CASE("devices from the record's key") {
  ReadingShape shape;
  shape.device = {"key"};
  CHECK(outcome_of(kGood, shape, "k1"sv) == "k1@5 t=1");
  CHECK(outcome_of("[" + kGood + "," + kGood + "]", shape, "k1"sv) == "k1@5 t=1 | k1@5 t=1");
  CHECK(outcome_of(kGood, shape) == "!no_device");
  CHECK(outcome_of(kGood, shape, ""sv) == "!bad_device");
  CHECK(outcome_of(kGood, shape, "a\0b"sv) == "!bad_device");
  CHECK(outcome_of(kGood, shape, "a\xff"sv) == "!bad_device");
  CHECK(outcome_of(kGood, shape, std::string(256, 'k')) == std::string(256, 'k') + "@5 t=1");
  CHECK(outcome_of(kGood, shape, std::string(257, 'k')) == "!bad_device");
}

TEST_CASE("times are floored from their decimal digits") {
  const Case cases[] = {
      {"1767225600123", "d@1767225600123 t=1"},
      {"1767225600123.9", "d@1767225600123 t=1"},
      {"1767225600123.99999999999999999999999999", "d@1767225600123 t=1"},
      {"1.7672256e12", "d@1767225600000 t=1"},
      {"1.7672256001239E+12", "d@1767225600123 t=1"},
      {"17672256001239e-1", "d@1767225600123 t=1"},
      {"1767225600123000000000000e-12", "d@1767225600123 t=1"},
      {"0.0000000000000000000000017672256e36", "d@1767225600000 t=1"},
      {"0", "d@0 t=1"},
      {"-0", "d@0 t=1"},
      {"-0.000e7", "d@0 t=1"},
      {"0.999", "d@0 t=1"},
      {"1e-99999999999999999999", "d@0 t=1"},
      {"0e99999999999999999999", "d@0 t=1"},
      {"253402300799999", "d@253402300799999 t=1"},
      {"253402300799999.999", "d@253402300799999 t=1"},
      {"253402300800000", "!bad_time"},
      {"2.534023008e14", "!bad_time"},
      {"9223372036854775808", "!bad_time"},
      {"18446744073709551617", "!bad_time"},
      {"1e99999999999999999999", "!bad_time"},
      {"1e18", "!bad_time"},
      {"-1", "!bad_time"},
      {"-0.1", "!bad_time"},
      {"-1e-400", "!bad_time"},
      {R"("1767225600123")", "!bad_time"},
      {"true", "!bad_time"},
      {"{}", "!bad_time"},
      {"[1]", "!bad_time"},
      {"null", "!no_time"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(outcome_of(with_time(c.text)) == c.outcome);
  }
}

TEST_CASE("arrival") {
  JsonParser parser{ReadingShape{}};
  CHECK(parser.parse({kGood, std::nullopt, 77}).readings[0].arrival_ms == 77);
  CHECK(parser.parse({kGood, std::nullopt, 0}).readings[0].arrival_ms == 0);
  CHECK(outcome_of(kGood, {}, std::nullopt, -1) == "!no_arrival");
  CHECK(outcome_of(kGood, {}, std::nullopt, std::numeric_limits<EpochMs>::max()) == "!no_arrival");

  ReadingShape shape;
  shape.arrival = "/arrived";
  JsonParser field{shape};
  const std::string head = R"({"device":"d","ts":5,"metrics":{"t":1},"arrived":)";
  CHECK(field.parse({head + "9.7}", std::nullopt, -1}).readings[0].arrival_ms == 9);
  for (const char* broken : {"null", "\"9\"", "-1", "1e20", "[]"}) {
    CAPTURE(broken);
    CHECK(describe(field.parse({head + broken + "}", std::nullopt, 77})) == "!no_arrival");
  }
  CHECK(describe(field.parse({kGood, std::nullopt, 77})) == "!no_arrival");
  CHECK(describe(field.parse({head + "01}", std::nullopt, 77})) == "!bad_json");
}

TEST_CASE("the event time as arrival, where the payload has none") {
  ReadingShape shape;
  shape.arrival = "/arrived";
  shape.arrival_falls_back_to_event = true;
  JsonParser parser{shape};
  const std::string head = R"({"device":"d","ts":5,"metrics":{"t":1},"arrived":)";
  CHECK(parser.parse({kGood, std::nullopt, 77}).readings[0].arrival_ms == 5);
  CHECK(parser.parse({head + "null}", std::nullopt, 77}).readings[0].arrival_ms == 5);
  CHECK(parser.parse({head + "9}", std::nullopt, 77}).readings[0].arrival_ms == 9);
  CHECK(describe(parser.parse({head + "\"9\"}", std::nullopt, 77})) == "!no_arrival");
  shape.arrival = "record";
  CHECK(outcome_of(kGood, shape, std::nullopt, -1) == "d@5 t=1");
}

TEST_CASE("members by configuration") {
  ReadingShape shape;
  shape.device = {"/a~1b"};
  shape.time = "/t~0~01";
  shape.metrics = "/";
  CHECK(outcome_of(R"({"a/b":"x","t~~1":5,"":{"m":1},"device":"d","ts":9})", shape) == "x@5 m=1");
}

TEST_CASE("the first reason in the order of the rules") {
  CHECK(outcome_of(R"({"device":"","ts":-1,"metrics":{"t":"x"},"u":.5})") == "!bad_json");
  CHECK(outcome_of("{\"device\":\"\",\"u\":\"\xff\",}") == "!bad_utf8");
  CHECK(outcome_of(R"({"device":"","ts":-1,"metrics":{"t":"x"}})", {}, std::nullopt, -1) == "!bad_device");
  CHECK(outcome_of(R"({"device":"d","ts":-1,"metrics":{"t":"x"}})", {}, std::nullopt, -1) == "!bad_time");
  CHECK(outcome_of(R"({"device":"d","ts":1,"metrics":{"t":"x"}})", {}, std::nullopt, -1) == "!no_arrival");
  CHECK(outcome_of(R"({"ts":1,"metrics":{"t":"x"}})") == "!no_device");
  CHECK(outcome_of(R"({"device":"d","metrics":[]})") == "!no_time");
}

TEST_CASE("a byte order mark in front and filling behind are dropped") {
  CHECK(outcome_of("\xef\xbb\xbf" + kGood) == "d@5 t=1");
  CHECK(outcome_of(kGood + std::string("\0 \r\n\0\0", 6)) == "d@5 t=1");
  CHECK(outcome_of(" \r\n\t" + kGood) == "d@5 t=1");
  CHECK(outcome_of(kGood + std::string("\0x", 2)) == "!bad_json");
  CHECK(outcome_of(std::string("\0", 1) + kGood) == "!bad_json");
  CHECK(outcome_of("\xef\xbb\xbf\xef\xbb\xbf" + kGood) == "!bad_json");
  for (const std::string_view empty :
       {""sv, " "sv, "\r\n\t"sv, "\0\0"sv, "\xef\xbb\xbf"sv, "\xef\xbb\xbf \0"sv}) {
    CHECK(outcome_of(empty) == "!empty_value");
  }
}

TEST_CASE("several readings in a record") {
  const std::string a = R"({"device":"a","ts":1,"metrics":{"t":1}})";
  const std::string b = R"({"device":"b","ts":2,"metrics":{"t":2}})";
  const std::string bad = R"({"device":"c","ts":3,"metrics":{"t":03}})";
  const std::string unsound = R"({"device":"c","ts":"x","metrics":{"t":"x"}})";
  const std::string both = "a@1 t=1 | b@2 t=2";
  const std::string nul(1, '\0');
  const Case cases[] = {
      {a + b, both},
      {a + " " + b, both},
      {a + "\n" + b + "\n", both},
      {a + "\r\n\r\n" + b + "\r\n" + nul, both},
      {"[" + a + "," + b + "]", both},
      {"[" + a + "]\n[" + b + "]", both},
      {"[\n  " + a + ",\n  " + b + "\n]\n", both},
      {"{\n\"device\":\"a\",\n\"ts\":1,\n\"metrics\":{\"t\":1}\n}\n" + b, both},
      {a + unsound + b, "a@1 t=1 | !bad_time | b@2 t=2"},
      {"[" + a + ",1,\"x\",null,[" + a + "],[]," + b + "]",
       "a@1 t=1 | !not_an_object | !not_an_object | !not_an_object | !not_an_object | !not_an_object | b@2 "
       "t=2"},
      {"[]", "!not_an_object"},
      {"[ ]\n" + a, "!not_an_object | a@1 t=1"},
      {"[[]]", "!not_an_object"},

      // One line: all or nothing.
      {a + "x", "!bad_json"},
      {a + bad, "!bad_json"},
      {a + "," + b, "!bad_json"},
      {a + " 42", "!bad_json"},
      {"42 43", "!bad_json"},
      {a + "}", "!bad_json"},
      {a + "\"", "!bad_json"},
      {a + " // comment", "!bad_json"},
      {a + "\xff", "!bad_utf8"},
      {"[" + a + "," + bad + "]", "!bad_json"},
      {"[" + a + "," + b, "!bad_json"},
      {a + "\n \n" + nul, "a@1 t=1"},
      {a + "x\n\n", "!bad_json"},

      // Lines: each stands alone.
      {a + "\n" + bad + "\n" + b, "a@1 t=1 | !bad_json | b@2 t=2"},
      {bad + "\n" + b, "!bad_json | b@2 t=2"},
      {a + "\nrubbish\n\n" + b + "\n", "a@1 t=1 | !bad_json | b@2 t=2"},
      {a + "\n{\"device\":\"c\n" + b, "a@1 t=1 | !bad_json | b@2 t=2"},
      {a + "\n{\"device\":\"\\u12\"}\n" + b, "a@1 t=1 | !bad_json | b@2 t=2"},
      {a + "\n{\"device\":\"\xff\"}\n" + b, "a@1 t=1 | !bad_utf8 | b@2 t=2"},
      {a + "\n42\n" + b, "a@1 t=1 | !not_an_object | b@2 t=2"},
      {a + b + "\n" + bad + a + "\n" + b, "a@1 t=1 | b@2 t=2 | !bad_json | b@2 t=2"},
      {a + "\n[" + b + "," + a + "]\n{", "a@1 t=1 | b@2 t=2 | a@1 t=1 | !bad_json"},
      {a + nul + "\r\n" + b + nul + "\n", both},
      {a + "\n\xef\xbb\xbf" + b, both},
      {a.substr(0, 12) + "\n" + b, "!bad_json | b@2 t=2"},
      {"{\n" + a + "\n" + b + "\n", "!bad_json | " + both},
      {a.substr(0, a.find("\"t\"")) + "\n" + b, "!bad_json | b@2 t=2"},

      // One document over several lines.
      {"[\n" + a + ",\n" + b + "\n", "!bad_json"},
      {"[" + a + ",\n" + bad + ",\n" + b + "\n]", "!bad_json"},
      {"[ " + a + "\n, " + bad + "\n]", "!bad_json"},
      {"{\n" + a.substr(1) + "\n" + b + "\n}", "!bad_json"},
      {"{\n}\n}", "!bad_json"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(outcome_of(c.text) == c.outcome);
  }
}

TEST_CASE("what a broken document has left is gone") {
  JsonParser parser{ReadingShape{}};
  const std::string rejected = R"({"device":"a","ts":1,"metrics":{"t":1,"s":"x"}})";
  CHECK(describe(parser.parse({rejected + "x", std::nullopt, kArrival})) == "!bad_json");
  CHECK(parser.parse({rejected + "x", std::nullopt, kArrival}).metrics.empty());
  CHECK(describe(parser.parse({rejected + "\n" + rejected + "x", std::nullopt, kArrival})) ==
        "a@1 t=1 | !bad_json (string:1)");
  CHECK(describe(parser.parse({with_device("null"), std::nullopt, kArrival})) == "!no_device");
  CHECK(parser.parse({with_device("null"), std::nullopt, kArrival}).metrics.empty());
}

TEST_CASE("depth is counted from the reading's own brackets") {
  const int inside = static_cast<int>(kMaxDepth) - 1;
  CHECK(outcome_of(with_unused(nested(inside, '[', "1", ']'))) == "d@5 t=1");
  CHECK(outcome_of(with_unused(nested(inside + 1, '[', "1", ']'))) == "!too_deep");
  CHECK(outcome_of("[" + with_unused(nested(inside, '[', "1", ']')) + "]") == "d@5 t=1");
  CHECK(outcome_of("[" + with_unused(nested(inside + 1, '[', "", ']')) + "," + kGood + "]") ==
        "!too_deep | d@5 t=1");
  CHECK(outcome_of(with_unused(nested(100'000, '[', "1", ']'))) == "!too_deep");
  CHECK(outcome_of(with_unused(nested(100'000, '[', "1", ']') + "]")) == "!bad_json");
  CHECK(outcome_of(with_value(nested(inside - 1, '[', "", ']'))) == "!no_usable_metric (array:1)");
  CHECK(outcome_of(with_value(nested(inside, '[', "", ']'))) == "!too_deep");

  const auto objects = [](int depth, const std::string& core) {
    std::string text;
    for (int level = 0; level < depth; ++level) text += R"({"a":)";
    return text + core + std::string(static_cast<std::size_t>(depth), '}');
  };
  CHECK(outcome_of(with_metrics(objects(inside, "1"))).starts_with("d@5 a.a.a."));
  CHECK(outcome_of(with_metrics(objects(inside + 1, "1"))) == "!too_deep");
  CHECK(outcome_of(with_metrics(objects(100'000, "1"))) == "!too_deep");
  CHECK(outcome_of(with_device(objects(inside + 1, "1"))) == "!too_deep");
}

TEST_CASE("limits of number") {
  const auto metrics = [](std::size_t count) {
    std::string text = "{";
    for (std::size_t m = 0; m < count; ++m) text += (m == 0 ? "\"" : ",\"") + std::to_string(m) + "\":1";
    return text + "}";
  };
  JsonParser parser{ReadingShape{}};
  CHECK(parser.parse({with_metrics(metrics(kMaxMetricsPerReading)), std::nullopt, kArrival}).metrics.size() ==
        kMaxMetricsPerReading);
  const std::string many = with_metrics(metrics(kMaxMetricsPerReading + 1));
  CHECK(describe(parser.parse({many + kGood, std::nullopt, kArrival})) == "!too_many | d@5 t=1");

  std::string readings;
  for (std::size_t r = 0; r < kMaxReadingsPerRecord; ++r) readings += "{}\n";
  CHECK(parser.parse({readings, std::nullopt, kArrival}).readings.size() == kMaxReadingsPerRecord);
  CHECK(describe(parser.parse({readings + "{}", std::nullopt, kArrival})) == "!too_many");
  CHECK(describe(parser.parse({readings + "{", std::nullopt, kArrival})) == "!too_many");
}

TEST_CASE("every reason has a name of its own") {
  for (std::size_t a = 0; a <= static_cast<std::size_t>(Malformed::kCount); ++a) {
    for (std::size_t b = 0; b < a; ++b)
      CHECK(to_string(static_cast<Malformed>(a)) != to_string(static_cast<Malformed>(b)));
  }
  for (std::size_t a = 0; a <= static_cast<std::size_t>(MetricReject::kCount); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      CHECK(to_string(static_cast<MetricReject>(a)) != to_string(static_cast<MetricReject>(b)));
    }
  }
}

}  // namespace
}  // namespace hourfold
