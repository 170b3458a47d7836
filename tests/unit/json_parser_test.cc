// The rules of docs/FORMATS.md, "A reading", as tables of cases.
#include "core/json_parser.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "tests/unit/parsed_record_text.h"

namespace hourfold {
namespace {

using namespace std::string_view_literals;

constexpr EpochMs kArrival = 1'767'225'601'000;

struct Case {
  std::string text;
  std::string outcome;
};

std::string outcome_of(std::string_view value, const ReadingShape& shape = {},
                       std::optional<std::string_view> key = std::nullopt,
                       EpochMs record_time_ms = kArrival) {
  JsonParser parser(shape);
  return describe(parser.parse(value, key, record_time_ms));
}

std::string with_metrics(const std::string& metrics) {
  return R"({"device":"d","ts":5,"metrics":)" + metrics + "}";
}
std::string with_value(const std::string& value) { return with_metrics(R"({"t":)" + value + "}"); }
std::string with_unused(const std::string& value) {
  return R"({"device":"d","u":)" + value + R"(,"ts":5,"metrics":{"t":1}})";
}
std::string with_device(const std::string& device) {
  return R"({"ts":5,"metrics":{"t":1},"device":)" + device + "}";
}
std::string with_time(const std::string& time) {
  return R"({"device":"d","ts":)" + time + R"(,"metrics":{"t":1}})";
}

const std::string kGood = with_metrics(R"({"t":1})");

std::string nested(int levels, char open, const std::string& core, char close) {
  return std::string(static_cast<std::size_t>(levels), open) + core +
         std::string(static_cast<std::size_t>(levels), close);
}

TEST_CASE("broken values are broken wherever they stand") {
  for (const char* value : {".5",
                            "007",
                            "0x1F",
                            "1.",
                            "+1",
                            "-",
                            "-.5",
                            "1e",
                            "1e+",
                            "--1",
                            "01",
                            "-01",
                            "1.2.3",
                            "1 2",
                            "1_000",
                            "1,",
                            "tru",
                            "True",
                            "truee",
                            "nul",
                            "nulll",
                            "undefined",
                            "'x'",
                            "\"\\x41\"",
                            "\"\\u12\"",
                            "\"\\\"",
                            "\"\\u12g4\"",
                            "\"\t\"",
                            "{",
                            "[",
                            "]",
                            "}",
                            "[1,]",
                            "[,1]",
                            "[1 2]",
                            "{\"a\":}",
                            "{\"a\"}",
                            "{a:1}",
                            "{,}",
                            "[1}",
                            "{\"a\":1]",
                            "{\"a\":1,}",
                            "{1:2}",
                            "/*x*/1",
                            "1//x",
                            "1#",
                            "\"a\"\"b\"",
                            "\"a\"b",
                            "1\"a\"",
                            "\"\\ud800\"",
                            "\"\\udc00\"",
                            "nan",
                            "-NaN",
                            "inf",
                            "INF",
                            "NaN0",
                            "Infinit",
                            "+Infinity",
                            ":",
                            "[NaN]",
                            "{\"a\":[-Infinity]}",
                            "\x01",
                            "\x0c",
                            "1\x0c",
                            "\x1a",
                            "\\u0031",
                            "\xc2\xa0 1",
                            "1 \"",
                            "\"\\"}) {
    CAPTURE(value);
    CHECK(outcome_of(with_value(value)) == "!bad_json");
    CHECK(outcome_of(with_unused(value)) == "!bad_json");
    CHECK(outcome_of(with_unused("[[" + std::string(value) + "]]")) == "!bad_json");
    CHECK(outcome_of(with_device(value)) == "!bad_json");
    CHECK(outcome_of(with_time(value)) == "!bad_json");
    CHECK(outcome_of(value).find('@') == std::string::npos);
  }
}

TEST_CASE("sound values that nobody uses") {
  for (const char* value : {"0",
                            "-0",
                            "1e400",
                            "1E-400",
                            "0.0e+0",
                            "123456789012345678901234567890",
                            "true",
                            "false",
                            "null",
                            "[]",
                            "{}",
                            "[[],{}]",
                            " [ 1 , 2 ] ",
                            "{\"a\":{\"a\":[null,\"x\"]}}",
                            "\"\"",
                            "\"\\u0000\"",
                            "\"\\ud83d\\ude00\\n\\/\\\"\"",
                            "\"{[,:'//\"",
                            "\"\x7f\"",
                            "\"\xf0\x9f\x98\x80\""}) {
    CAPTURE(value);
    CHECK(outcome_of(with_unused(value)) == "d@5 t=1");
  }
}

TEST_CASE("NaN and the infinities are let pass as a metric's value alone") {
  for (const char* value : {"NaN", "Infinity", "-Infinity"}) {
    CAPTURE(value);
    const std::string text = value;
    CHECK(outcome_of(with_metrics(R"({"a":1,"t":)" + text + R"( ,"b":{"c":)" + text + "}}")) ==
          "d@5 a=1 (not_finite:2)");
    CHECK(outcome_of(with_unused(text)) == "!bad_json");
    CHECK(outcome_of(with_device(text)) == "!bad_json");
    CHECK(outcome_of(with_time(text)) == "!bad_json");
    CHECK(outcome_of(with_metrics(text)) == "!bad_json");
    CHECK(outcome_of(text) == "!bad_json");
    CHECK(outcome_of("[" + text + "]") == "!bad_json");
  }
}

TEST_CASE("a number is the nearest double") {
  struct Number {
    const char* text;
    double value;
  };
  const Number numbers[] = {
      {"0", 0.0},
      {"21.5", 21.5},
      {"-40", -40},
      {"0.1", 0.1},
      {"1e23", 1e23},
      {"9007199254740993", 9007199254740992.0},
      {"9007199254740993.0000000000000000000000000000001", 9007199254740994.0},
      {"-9007199254740995", -9007199254740996.0},
      {"18446744073709551616", 18446744073709551616.0},
      {"0.30000000000000004", 0.30000000000000004},
      {"123456789012345678", 123456789012345680.0},
      {"1.7976931348623157e308", std::numeric_limits<double>::max()},
      {"1.7976931348623158e308", std::numeric_limits<double>::max()},
      {"4.9e-324", std::numeric_limits<double>::denorm_min()},
      {"2.4703282292062328e-324", std::numeric_limits<double>::denorm_min()},
      {"2.4703282292062327e-324", 0.0},
      {"2.2250738585072011e-308", 2.2250738585072011e-308},
      {"1e-400", 0.0},
      {"1e-99999999999999999999", 0.0},
      {"0e99999999999999999999", 0.0},
      {"0.000000000000000000000000000000000000000000000001e48", 1.0},
      {"1E+2", 100},
  };
  JsonParser parser{ReadingShape{}};
  for (const Number& number : numbers) {
    CAPTURE(number.text);
    const ParsedRecord& record = parser.parse(with_value(number.text), std::nullopt, kArrival);
    REQUIRE(record.metrics.size() == 1);
    CHECK(record.metrics[0].value == number.value);
  }
  for (const char* zero : {"-0", "-0.0", "-0e5", "-1e-400", "-0.0000000000000000000000000"}) {
    CAPTURE(zero);
    const ParsedRecord& record = parser.parse(with_value(zero), std::nullopt, kArrival);
    REQUIRE(record.metrics.size() == 1);
    CHECK(record.metrics[0].value == 0);
    CHECK(std::signbit(record.metrics[0].value));
  }
  for (const char* huge : {"1e400", "-1e400", "1.7976931348623159e308", "1e309", "1e99999999999999999999"}) {
    CAPTURE(huge);
    CHECK(outcome_of(with_metrics(R"({"a":1,"t":)" + std::string(huge) + "}")) == "d@5 a=1 (out_of_range:1)");
  }
  CHECK(outcome_of(with_value("1" + std::string(400, '0'))) == "!no_usable_metric (out_of_range:1)");
  CHECK(outcome_of(with_value("1" + std::string(400, '0') + "e-400")) == "d@5 t=1");
}

TEST_CASE("what a metric may be") {
  const Case cases[] = {
      {R"({"a":1,"b":null})", "d@5 a=1"},
      {R"({"a":1,"b":"x","c":true,"d":[1,{"e":[]}]})", "d@5 a=1 (string:1) (boolean:1) (array:1)"},
      {R"({"a":1,"b":"2"})", "d@5 a=1 (string:1)"},
      {R"({"a":"x","b":null})", "!no_usable_metric (string:1)"},
      {R"({})", "d@5"},
      {R"({"a":null})", "d@5"},
      {R"({"a":{},"b":{"c":null,"d":{}}})", "d@5"},
      {R"({"acc":{"x":1,"y":{"z":2}},"t":3})", "d@5 acc.x=1 acc.y.z=2 t=3"},
      {R"({"a":{"":1},"":{"b":2}})", "d@5 a.=1 .b=2"},
      {R"({"\u0061\u002e\ud83d\ude00":1})", "d@5 a.\xf0\x9f\x98\x80=1"},
      {R"({"a":{"\u0062":{"c":1}}})", "d@5 a.b.c=1"},
      {R"({"":1,"a":2})", "d@5 a=2 (bad_name:1)"},
      {R"({"a\u0000b":1,"c\n":2,"d\u001f":3,"e\u007f":4,"f":5})", "d@5 f=5 (bad_name:4)"},
      {"{\"a\x7f\":1,\"b\":2,\"c\xc2\x80\":3}", "d@5 b=2 c\xc2\x80=3 (bad_name:1)"},
      {R"({"a":{"b\t":1,"c":2}})", "d@5 a.c=2 (bad_name:1)"},
      {R"({"":null})", "d@5"},
      {R"({"":[1]})", "!no_usable_metric (bad_name:1)"},
      {R"([1])", "!no_metrics"},
      {R"("x")", "!no_metrics"},
      {R"(null)", "!no_metrics"},
      {R"(1)", "!no_metrics"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(outcome_of(with_metrics(c.text)) == c.outcome);
  }
  CHECK(outcome_of(R"({"device":"d","ts":5})") == "!no_metrics");
}

TEST_CASE("names of metrics are 1 to 128 bytes after flattening") {
  const std::string longest(128, 'n');
  CHECK(outcome_of(with_metrics("{\"" + longest + "\":1}")) == "d@5 " + longest + "=1");
  CHECK(outcome_of(with_metrics("{\"" + longest + "n\":1,\"t\":2}")) == "d@5 t=2 (bad_name:1)");
  const std::string outer(100, 'o');
  const std::string fits(27, 'i');
  CHECK(outcome_of(with_metrics("{\"" + outer + "\":{\"" + fits + "\":1,\"" + fits + "i\":2}}")) ==
        "d@5 " + outer + "." + fits + "=1 (bad_name:1)");
  CHECK(outcome_of(with_metrics("{\"" + longest + "\":{\"a\":1,\"b\":null,\"c\":\"x\"},\"t\":2}")) ==
        "d@5 t=2 (bad_name:2)");
}

TEST_CASE("of equal keys the last one counts, with all that it holds") {
  const Case cases[] = {
      {R"({"t":1,"t":2})", "d@5 t=2"},
      {R"({"t":1,"u":5,"\u0074":2})", "d@5 u=5 t=2"},
      {R"({"t":1,"t":null})", "d@5"},
      {R"({"t":1,"t":"x"})", "!no_usable_metric (string:1)"},
      {R"({"t":"x","t":1})", "d@5 t=1"},
      {R"({"t":NaN,"t":null})", "d@5"},
      {R"({"a":{"x":1},"a":{"y":2}})", "d@5 a.y=2"},
      {R"({"a":{"x":1},"a":null,"t":1})", "d@5 t=1"},
      {R"({"a":{"x":1},"a":3})", "d@5 a=3"},
      {R"({"a":3,"a":{"x":1,"x":2}})", "d@5 a.x=2"},
      {R"({"a":{"x":1},"a.x":2})", "d@5 a.x=2"},
      {R"({"a.x":2,"a":{"x":1}})", "d@5 a.x=1"},
      {R"({"a.x":2,"a":{"x":null},"t":1})", "d@5 t=1"},
      {R"({"a.x":2,"a":{"x":"s"},"t":1})", "d@5 t=1 (string:1)"},
      {R"({"a":{"x":1},"a":{}})", "d@5"},
      {R"({"":1,"":2,"t":3})", "d@5 t=3 (bad_name:1)"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(outcome_of(with_metrics(c.text)) == c.outcome);
  }
  const Case members[] = {
      {R"({"device":"a","ts":1,"metrics":{"x":1},"device":"b","ts":2,"metrics":{"y":2}})", "b@2 y=2"},
      {R"({"device":"a","ts":1,"metrics":{"x":{"x":1}},"metrics":{"y":{"z":2}}})", "a@1 y.z=2"},
      {R"({"device":"a","ts":1,"metrics":{"x":1},"metrics":null})", "!no_metrics"},
      {R"({"device":"a","ts":1,"metrics":5,"metrics":{"x":1}})", "a@1 x=1"},
      {R"({"device":"a","ts":1,"metrics":{"x":1},"device":null})", "!no_device"},
      {R"({"device":7.5,"ts":"x","metrics":{"x":1},"\u0064evice":"b","t\u0073":3})", "b@3 x=1"},
      {R"({"device":"a","ts":1,"metrics":{"x":1},"ts":null})", "!no_time"},
  };
  for (const Case& c : members) {
    CAPTURE(c.text);
    CHECK(outcome_of(c.text) == c.outcome);
  }
}

TEST_CASE("equal names are found among few and among many, short and long") {
  for (const int count : {2, 8, 16, 17, 40}) {
    for (const std::size_t length : {2U, 7U, 8U, 9U, 16U, 30U}) {
      CAPTURE(count);
      CAPTURE(length);
      std::string metrics = "{";
      std::string outcome = "d@5";
      for (int m = 0; m < count; ++m) {
        std::string name(length, 'm');
        name[length / 2] = static_cast<char>('0' + m);
        metrics += "\"" + name + "\":1,";
        if (m > 0) outcome += " " + name + "=1";
      }
      std::string repeated(length, 'm');
      repeated[length / 2] = '0';
      CHECK(outcome_of(with_metrics(metrics + "\"" + repeated + "\":2}")) == outcome + " " + repeated + "=2");
    }
  }
}

TEST_CASE("numeric strings and booleans by configuration") {
  ReadingShape shape;
  shape.numeric_strings = true;
  shape.booleans = true;
  const Case cases[] = {
      {R"({"a":"21.5","b":true,"c":false})", "d@5 a=21.5 b=1 c=0"},
      {R"({"a":" -1e2\t\n","b":"\u0031"})", "d@5 a=-100 b=1"},
      {R"({"a":"","b":" ","c":"x","d":"1,5","e":"0x1F","f":"007","g":".5","h":"NaN","i":"1 2","j":"+1","k":1})",
       "d@5 k=1 (string:10)"},
      {R"({"a":"1e400","b":1})", "d@5 b=1 (out_of_range:1)"},
      {R"({"a":"-0"})", "d@5 a=-0"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(outcome_of(with_metrics(c.text), shape) == c.outcome);
  }
  CHECK(outcome_of(with_time("\"5\""), shape) == "!bad_time");
}

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
  shape.device = "key";
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
  CHECK(parser.parse(kGood, std::nullopt, 77).readings[0].arrival_ms == 77);
  CHECK(parser.parse(kGood, std::nullopt, 0).readings[0].arrival_ms == 0);
  CHECK(outcome_of(kGood, {}, std::nullopt, -1) == "!no_arrival");
  CHECK(outcome_of(kGood, {}, std::nullopt, std::numeric_limits<EpochMs>::max()) == "!no_arrival");

  ReadingShape shape;
  shape.arrival = "/arrived";
  JsonParser field{shape};
  const std::string head = R"({"device":"d","ts":5,"metrics":{"t":1},"arrived":)";
  CHECK(field.parse(head + "9.7}", std::nullopt, -1).readings[0].arrival_ms == 9);
  for (const char* broken : {"null", "\"9\"", "-1", "1e20", "[]"}) {
    CAPTURE(broken);
    CHECK(describe(field.parse(head + broken + "}", std::nullopt, 77)) == "!no_arrival");
  }
  CHECK(describe(field.parse(kGood, std::nullopt, 77)) == "!no_arrival");
  CHECK(describe(field.parse(head + "01}", std::nullopt, 77)) == "!bad_json");
}

TEST_CASE("the event time as arrival, where the payload has none") {
  ReadingShape shape;
  shape.arrival = "/arrived";
  shape.arrival_falls_back_to_event = true;
  JsonParser parser{shape};
  const std::string head = R"({"device":"d","ts":5,"metrics":{"t":1},"arrived":)";
  CHECK(parser.parse(kGood, std::nullopt, 77).readings[0].arrival_ms == 5);
  CHECK(parser.parse(head + "null}", std::nullopt, 77).readings[0].arrival_ms == 5);
  CHECK(parser.parse(head + "9}", std::nullopt, 77).readings[0].arrival_ms == 9);
  CHECK(describe(parser.parse(head + "\"9\"}", std::nullopt, 77)) == "!no_arrival");
  shape.arrival = "record";
  CHECK(outcome_of(kGood, shape, std::nullopt, -1) == "!no_arrival");
}

TEST_CASE("members by configuration") {
  ReadingShape shape;
  shape.device = "/a~1b";
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

      // One document over several lines.
      {"[\n" + a + ",\n" + b + "\n", "!bad_json"},
      {"[" + a + ",\n" + bad + ",\n" + b + "\n]", "!bad_json"},
      {"[ " + a + "\n, " + bad + "\n]", "!bad_json"},
      {"{\n" + a.substr(1) + "\n" + b + "\n}", "!bad_json"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(outcome_of(c.text) == c.outcome);
  }
}

TEST_CASE("what a broken document has left is gone") {
  JsonParser parser{ReadingShape{}};
  const std::string rejected = R"({"device":"a","ts":1,"metrics":{"t":1,"s":"x"}})";
  CHECK(describe(parser.parse(rejected + "x", std::nullopt, kArrival)) == "!bad_json");
  CHECK(parser.parse(rejected + "x", std::nullopt, kArrival).metrics.empty());
  CHECK(describe(parser.parse(rejected + "\n" + rejected + "x", std::nullopt, kArrival)) ==
        "a@1 t=1 | !bad_json (string:1)");
  CHECK(describe(parser.parse(with_device("null"), std::nullopt, kArrival)) == "!no_device");
  CHECK(parser.parse(with_device("null"), std::nullopt, kArrival).metrics.empty());
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
  CHECK(parser.parse(with_metrics(metrics(kMaxMetricsPerReading)), std::nullopt, kArrival).metrics.size() ==
        kMaxMetricsPerReading);
  const std::string many = with_metrics(metrics(kMaxMetricsPerReading + 1));
  CHECK(describe(parser.parse(many + kGood, std::nullopt, kArrival)) == "!too_many | d@5 t=1");

  std::string readings;
  for (std::size_t r = 0; r < kMaxReadingsPerRecord; ++r) readings += "{}\n";
  CHECK(parser.parse(readings, std::nullopt, kArrival).readings.size() == kMaxReadingsPerRecord);
  CHECK(describe(parser.parse(readings + "{}", std::nullopt, kArrival)) == "!too_many");
  CHECK(describe(parser.parse(readings + "{", std::nullopt, kArrival)) == "!too_many");
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
