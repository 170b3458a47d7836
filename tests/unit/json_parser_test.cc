// The rules of docs/FORMATS.md, "A reading", as tables of cases: values, numbers and metrics.
#include "payload/json_parser.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "tests/unit/json_parser_cases.h"

namespace hourfold {
namespace {

using namespace std::string_view_literals;

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
    const ParsedRecord& record = parser.parse({with_value(number.text), std::nullopt, kArrival});
    REQUIRE(record.metrics.size() == 1);
    CHECK(record.metrics[0].value == number.value);
  }
  for (const char* zero : {"-0", "-0.0", "-0e5", "-1e-400", "-0.0000000000000000000000000"}) {
    CAPTURE(zero);
    const ParsedRecord& record = parser.parse({with_value(zero), std::nullopt, kArrival});
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

}  // namespace
}  // namespace hourfold
