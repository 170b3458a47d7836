// What each format makes of records that are unusual or broken, in the outcomes of parsed_record_text.h.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "core/config.h"
#include "payload/payload_parser.h"
#include "tests/unit/parsed_record_text.h"

namespace hourfold {
namespace {

using namespace std::string_view_literals;

constexpr EpochMs kArrival = 1'767'225'600'000;

ReadingShape shape_of(const std::string& section) {
  const auto config = parse_config("{\"reading\":" + section + "}", "test", {}, {}, false);
  REQUIRE_MESSAGE(static_cast<bool>(config), (config ? std::string() : config.error().message));
  return config->reading.shape;
}

struct Row {
  std::string_view value;
  std::string_view outcome;
};

template <std::size_t N>
void check(const std::string& section, const Row (&rows)[N]) {
  const auto parser = make_payload_parser(shape_of(section));
  for (const Row& row : rows) {
    CAPTURE(std::string(row.value));
    CHECK(describe(parser->parse({row.value, "key-1", kArrival})) == row.outcome);
  }
}

TEST_CASE("nested fields") {
  check(R"({"device":"/a/id","time":"/a/b/ts","metrics":"/m/v"})",
        {
            {R"({"a":{"id":"d","b":{"ts":5}},"m":{"v":{"t":1,"n":{"x":2}}}})", "d@5 t=1 n.x=2"},
            {R"({"m":{"v":{"t":1}},"a":{"b":{"ts":5},"id":7}})", "7@5 t=1"},
            {R"({"a":{"id":"d","b":{"ts":5}},"a":{"id":"e"},"m":{"v":{"t":1}}})", "!no_time"},
            {R"({"a":{"id":"d","b":{"ts":5}},"a":1,"m":{"v":{"t":1}}})", "!no_device"},
            {R"({"a":{"id":"d","b":{"ts":5,"ts":6}},"m":{"v":{"t":1},"v":{"t":2}}})", "d@6 t=2"},
            {R"({"a":{"id":"d","b":{"ts":5}},"m":{"v":{"t":1}},"m":{}})", "!no_metrics"},
            {R"({"a":{"id":"d","b":5},"m":{"v":{"t":1}}})", "!no_time"},
            {R"({"a":{"id":"d","b":[{"ts":5}]},"m":{"v":{"t":1}}})", "!no_time"},
            {R"({"a":{"id":"d","b":{"ts":5},"x":007},"m":{"v":{"t":1}}})", "!bad_json"},
            {R"({"a":{"id":"d","b":{"ts":5}},"m":{"v":{"t":1}})", "!bad_json"},
        });
}

TEST_CASE("a flat reading: what is named elsewhere is no metric") {
  check(R"({"device":"/meta/id","metrics":"","select":{"deny":["seq"]}})",
        {
            {R"({"meta":{"id":"d","rssi":-70},"ts":5,"t":1,"seq":9,"n":{"ts":3}})",
             "d@5 meta.rssi=-70 t=1 n.ts=3"},
            {R"({"meta":{"id":"d"},"ts":5})", "d@5"},
            {R"({"meta":{"id":"d"},"ts":5,"seq":1,"x":null})", "d@5"},
            {R"({"meta":{"id":"d"},"ts":5,"t":1,"t":"x"})", "!no_usable_metric (string:1)"},
            {R"({"meta":{"id":"d"},"ts":5,"t":NaN,"n":{"x":-Infinity,"y":1}})", "d@5 n.y=1 (not_finite:2)"},
            {R"({"meta":{"id":"d"},"ts":5,"t":[NaN]})", "!bad_json"},
            {R"({"meta":{"id":"d"},"ts":5,"t":nan})", "!bad_json"},
        });
  check(R"({"metrics":"/data","time":"/data/at"})",
        {
            {R"({"device":"d","data":{"at":5,"t":1}})", "d@5 t=1"},
            {R"({"device":"d","data":{"at":5,"t":1},"data":{"t":2}})", "!no_time"},
            {R"({"device":"d","data":[1]})", "!no_time"},
        });
}

TEST_CASE("one metric a message") {
  check(R"({"metric":"/m","value":"/v","numeric_strings":true})",
        {
            {R"({"device":"d","m":"t","v":1,"ts":5})", "d@5 t=1"},
            {R"({"v":"1.5","ts":5,"device":"d","m":"t"})", "d@5 t=1.5"},
            {R"({"device":"d","m":"t","v":null,"ts":5})", "d@5"},
            {R"({"device":"d","m":"acc","v":{"x":1,"y":{"z":2}},"ts":5})", "d@5 acc.x=1 acc.y.z=2"},
            {R"({"device":"d","m":"t","ts":5})", "!no_metrics"},
            {R"({"device":"d","v":1,"ts":5})", "!no_metrics"},
            {R"({"device":"d","m":7,"v":1,"ts":5})", "!no_metrics"},
            {R"({"device":"d","m":"","v":1,"ts":5})", "!no_usable_metric (bad_name:1)"},
            {R"({"device":"d","m":"t","v":[1],"ts":5})", "!no_usable_metric (array:1)"},
            {R"({"device":"d","m":"t","v":true,"ts":5})", "!no_usable_metric (boolean:1)"},
            {R"({"device":"d","m":"t","m":"u","v":1,"v":2,"ts":5})", "d@5 u=2"},
        });
}

TEST_CASE("selection of metrics") {
  check(R"({"select":{"allow":["t*","h"],"deny":["t_raw"],"rename":{"temp":"t"}}})",
        {
            {R"({"device":"d","ts":5,"metrics":{"temp":1,"h":2,"x":3,"t_raw":4}})", "d@5 t=1 h=2"},
            {R"({"device":"d","ts":5,"metrics":{"temp":1,"t":2}})", "d@5 t=2"},
            {R"({"device":"d","ts":5,"metrics":{"t":2,"temp":1}})", "d@5 t=1"},
            {R"({"device":"d","ts":5,"metrics":{"x":3,"y":"s"}})", "d@5"},
            {R"({"device":"d","ts":5,"metrics":{"t":"s"}})", "!no_usable_metric (string:1)"},
            {R"({"device":"d","ts":5,"metrics":{"":1,"t":2}})", "d@5 t=2 (bad_name:1)"},
        });
  check(
      R"({"select":{"convert":[{"metrics":"a","scale":0.01},{"metrics":"b*","scale":1e300},{"metrics":"*","offset":-40}]}})",
      {
          {R"({"device":"d","ts":5,"metrics":{"a":2150,"c":1}})", "d@5 a=21.5 c=-39"},
          {R"({"device":"d","ts":5,"metrics":{"a":7,"b1":1e300}})",
           "d@5 a=0.070000000000000007 (out_of_range:1)"},
      });
}

TEST_CASE("decimal comma") {
  check(
      R"({"numeric_strings":true,"decimal_comma":true})",
      {
          {R"({"device":"d","ts":5,"metrics":{"a":"21,5","b":"-0,25","c":"1,2,3","d":"1.5,2","e":",5","f":"1,5e3"}})",
           "d@5 a=21.5 b=-0.25 f=1500 (string:3)"},
      });
}

TEST_CASE("SenML") {
  check(
      R"({"format":"senml"})",
      {
          {R"([{"bn":"d","n":"t","t":1767225600,"v":1}])", "d@1767225600000 t=1"},
          {R"([{"bn":"d:"},{"n":"t","v":1},{"n":"h","v":2}])", "d@1767225600000 t=1 h=2"},
          {R"([{"n":"urn:dev:ow:10e2073a01080063","v":23.5}])",
           "urn:dev:ow:10e2073a01080063@1767225600000 value=23.5"},
          {R"([{"bn":"a/","n":"b/c","v":1}])", "a@1767225600000 b/c=1"},
          {R"([{"bn":"d/","bt":1.276020076001e+09,"n":"t","v":1},{"n":"t","t":-0.5,"v":2}])",
           "d@1276020076001 t=1 | d@1276020075501 t=2"},
          {R"([{"bn":"d/","bv":20,"n":"t","v":1.5},{"bv":0,"n":"t","t":1,"v":1}])",
           "d@1767225600000 t=21.5 | d@1767225601000 t=1"},
          {R"([{"bn":"d/","bs":10,"n":"e","s":2.5}])", "d@1767225600000 e.sum=12.5"},
          {R"([{"bn":"d/","n":"e","v":1,"s":2.5}])", "d@1767225600000 e=1 e.sum=2.5"},
          {R"([{"bn":"d/","n":"t","v":1},{"bn":"e/","n":"t","v":2}])",
           "d@1767225600000 t=1 | e@1767225600000 t=2"},
          {R"([{"bn":"d/","n":"t","v":1},{"n":"t","v":2}])", "d@1767225600000 t=2"},
          {R"({"bn":"d/","n":"t","v":1})", "d@1767225600000 t=1"},
          {"[{\"bn\":\"d/\",\"n\":\"t\",\"v\":1}]\n[{\"n\":\"x/t\",\"v\":2}]",
           "d@1767225600000 t=1 | x@1767225600000 t=2"},
          {R"([{"bn":"d/","n":"a","vs":"x"},{"n":"b","vd":"aGk="},{"n":"c","vb":true},{"n":"t","v":1}])",
           "d@1767225600000 t=1 (string:2) (boolean:1)"},
          {R"([{"bn":"d/","n":"t","v":NaN},{"n":"h","v":1}])", "d@1767225600000 h=1 (not_finite:1)"},
          {R"([{"bn":"d/","n":"t","v":1e400}])", "!no_usable_metric (out_of_range:1)"},
          // A broken record stands alone, a broken base does not.
          {R"([{"bn":"d/","n":"t","v":1,"vs":"x"},{"n":"h","v":2}])", "!bad_senml | d@1767225600000 h=2"},
          {R"([{"bn":"d/","n":"t","v":1},{"n":7,"v":1},{"n":"h","v":2}])",
           "d@1767225600000 t=1 | !bad_senml | d@1767225600000 h=2"},
          {R"([{"bn":"d/","n":"t","t":"x","v":1},{"n":"h","v":2}])", "!bad_time | d@1767225600000 h=2"},
          {R"([{"bn":"d/","bt":"x","n":"t","v":1},{"n":"h","v":2}])", "!bad_senml | !bad_senml"},
          {R"([{"bn":"d/","n":"t","v":1,"x_":1},{"n":"h","v":2,"x":1}])", "!bad_senml | d@1767225600000 h=2"},
          {R"([{"bver":11,"bn":"d/","n":"t","v":1}])", "!bad_senml"},
          {R"([{"bver":5,"bn":"d/","n":"t","v":1}])", "d@1767225600000 t=1"},
          {R"([{"n":"d/t"}])", "!no_metrics"},
          {R"([{"bn":"d/"}])", "!no_metrics"},
          {R"([{"v":1}])", "!no_device"},
          {R"([{"bn":"d/","n":"t","vb":1}])", "!bad_senml"},
          {R"([{"bn":"d/","n":"t","t":1e12,"v":1}])", "!bad_time"},
          {R"([{"bn":"d/","n":"t","t":-1e10,"v":1}])", "!bad_time"},
          {R"([{"bn":"d/","n":"t","v":1},7])", "!not_an_object | d@1767225600000 t=1"},
          {R"([{"bn":"d/","n":"t","v":1})", "!bad_json"},
          {R"([])", "!not_an_object"},
      });
  check(R"({"format":"senml","device":"key"})",
        {{R"([{"n":"t","v":1},{"n":"a/h","v":2}])", "key-1@1767225600000 value=1 h=2"}});
}

TEST_CASE("line protocol") {
  check(
      R"({"format":"influx","device":["tag:site","tag:host"],"device_separator":"-","measurement_prefix":false})",
      {
          {"m,host=h,site=s f=1", "s-h@1767225600000 f=1"},
          {"m,site=s,host=h f=1 5000000", "s-h@5 f=1"},
          {"# a comment\n\nm,site=s,host=h f=1 5000000\r\n", "s-h@5 f=1"},
          {"m,site=s,host=h a=1i,b=2u,c=-3.5,d=+1,e=.5,f=5.,g=1e3,h=007 5000000",
           "s-h@5 a=1 b=2 c=-3.5 d=1 e=0.5 f=5 g=1000 h=7"},
          {"m,site=s,host=h a=t,b=\"x, y=\\\" z\",c=NaN,d=1 5000000",
           "s-h@5 d=1 (not_finite:1) (string:1) (boolean:1)"},
          {"m\\,x\\ y,site=s\\=1,host=h\\,2 a\\ b=1 5000000", "s=1-h,2@5 a b=1"},
          {"m,site=s,host=h a\\=b=1 5000000", "s-h@5 a=b=1"},
          {"m,site=s,host=h f=1  5000000 ", "s-h@5 f=1"},
          {"m,site=s f=1", "!no_device"},
          {"m f=1", "!no_device"},
          {"m,site=s,host=h", "!bad_line"},
          {"m,site=s,host=h ", "!bad_line"},
          {"m,site=s,host= f=1", "!bad_line"},
          {"m,site=s,host f=1", "!bad_line"},
          {",site=s,host=h f=1", "!bad_line"},
          {"m,site=s,host=h f=", "!bad_line"},
          {"m,site=s,host=h f", "!bad_line"},
          {"m,site=s,host=h =1", "!bad_line"},
          {"m,site=s,host=h f=1x", "!bad_line"},
          {"m,site=s,host=h f=1.5i", "!bad_line"},
          {"m,site=s,host=h f=-1u", "!bad_line"},
          {"m,site=s,host=h f=\"open", "!bad_line"},
          {"m,site=s,host=h f=1,", "!bad_line"},
          {"m,site=s,host=h f=1 soon", "!bad_line"},
          {"m,site=s,host=h f=1 1.5", "!bad_line"},
          {"m,site=s,host=h f=1 5 6", "!bad_line"},
          {"m,site=s,host=h f=1 -5", "!bad_time"},
          {"m,site=s,host=h f=\"x\"", "!no_usable_metric (string:1)"},
          {"m,site=s,host=h f=1\nbroken\nm,site=s,host=h f=2 7000000",
           "s-h@1767225600000 f=1 | !bad_line | s-h@7 f=2"},
          {"m,site=\xff,host=h f=1", "!bad_utf8"},
          {"# nothing but this", "!no_metrics"},
          {" \n ", "!empty_value"},
          {"", "!empty_value"},
      });
  check(R"({"format":"influx","device":["measurement","tag:h"],"time_unit":"s"})",
        {{"cpu,h=a idle=1 1767225600", "cpu/a@1767225600000 cpu.idle=1"}});
}

TEST_CASE("ThingsBoard") {
  check(R"({"format":"thingsboard"})",
        {
            {R"({"t":1,"h":{"x":2}})", "key-1@1767225600000 t=1 h.x=2"},
            {R"({"ts":5,"values":{"t":1}})", "key-1@5 t=1"},
            {R"({"ts":"5","values":{"t":1}})", "key-1@5 t=1"},
            {R"([{"ts":5,"values":{"t":1}},{"ts":6,"values":{"t":NaN,"h":2}}])",
             "key-1@5 t=1 | key-1@6 h=2 (not_finite:1)"},
            {R"({"ts":5,"t":1})", "key-1@1767225600000 ts=5 t=1"},
            {R"({"ts":null,"values":{"t":1}})", "!no_time"},
            {R"({"ts":5,"values":7})", "!no_metrics"},
            {R"({"ts":5,"values":{}})", "key-1@5"},
            {R"({})", "key-1@1767225600000"},
            {R"(7)", "!not_an_object"},
            {R"({"t":1)", "!bad_json"},
        });
  check(R"({"format":"thingsboard_gateway","device":["key","name"]})",
        {
            {R"({"A":[{"ts":5,"values":{"t":1}}],"B":{"t":2},"C":7,"D":[7,{"t":3}],"E":[]})",
             "key-1/A@5 t=1 | key-1/B@1767225600000 t=2 | !not_an_object | !not_an_object | "
             "key-1/D@1767225600000 t=3"},
            {R"({"":[{"t":1}]})", "!bad_device"},
            {R"({"A":[{"ts":5,"values":{"t":1}}},"B":1})", "!bad_json"},
            {R"({})", "!no_metrics"},
        });
}

TEST_CASE("envelopes") {
  check(R"({"body":"/b","device":"envelope:/id","metrics":"","time":"envelope:/ts"})",
        {
            {R"({"id":"d","ts":5,"b":{"t":1}})", "d@5 t=1"},
            {R"({"id":"d","ts":5,"b":[{"t":1},{"t":2}]})", "d@5 t=1 | d@5 t=2"},
            {R"({"b":"{\"t\":1}","id":"d","ts":5})", "d@5 t=1"},
            {R"({"b":"eyJ0IjoxfQ==","id":"d","ts":5})", "d@5 t=1"},
            {R"({"b":"eyJ0IjoxfQ","id":"d","ts":5})", "d@5 t=1"},
            {R"({"b":"bm90IEpTT04=","id":"d","ts":5})", "!bad_json"},
            {R"({"b":"not base64!","id":"d","ts":5})", "!no_body"},
            {R"({"b":"","id":"d","ts":5})", "!no_body"},
            {R"({"b":7,"id":"d","ts":5})", "!no_body"},
            {R"({"id":"d","ts":5})", "!no_body"},
            {R"({"b":{"t":1},"ts":5})", "!no_device"},
            {R"({"b":{"t":1},"id":"d"})", "!no_time"},
            {R"([{"id":"d","ts":5,"b":{"t":1}},{"id":"e","ts":6,"b":{"t":2,"s":"x"}}])",
             "d@5 t=1 | e@6 t=2 (string:1)"},
            {"{\"id\":\"d\",\"ts\":5,\"b\":{\"t\":1}}\n{\"id\":\"e\"", "d@5 t=1 | !bad_json"},
            {R"({"id":"d","ts":5,"b":{"t":1},"b":{"t":2}})", "d@5 t=2"},
            {R"(7)", "!not_an_object"},
        });
  check(R"({"body":"/line","format":"influx","device":"envelope:/id"})",
        {{R"({"id":"d","line":"m f=1 5000000\nm f=2 6000000"})", "d@5 m.f=1 | d@6 m.f=2"},
         {R"({"id":"d","line":"bSBmPTEgNTAwMDAwMA=="})", "d@5 m.f=1"}});
  check(R"({"body":""})", {{R"({"device":"d","ts":5,"metrics":{"t":1}})", "d@5 t=1"},
                           {R"("eyJkZXZpY2UiOiJkIiwidHMiOjUsIm1ldHJpY3MiOnsidCI6MX19")", "d@5 t=1"},
                           {R"("hello")", "!no_body"},
                           {R"(42)", "!no_body"}});
}

TEST_CASE("what is no JSON is called what it is, unless a line of it is a reading") {
  const std::string good = R"({"device":"d","ts":5,"metrics":{"t":1}})";
  const auto parser = make_payload_parser(shape_of("{}"));
  const auto outcome = [&](const std::string& value) {
    return describe(parser->parse({value, std::nullopt, kArrival}));
  };
  CHECK(outcome("\x1f\x8b\n\x08") == "!compressed");
  CHECK(outcome("\x1f\x8b\n" + good) == "!bad_utf8 | d@5 t=1");
  CHECK(outcome(std::string("\0\0\0\0\x2a\n", 6) + "x") == "!framed");
  CHECK(outcome(std::string("\0\0\0\0\x2a\n", 6) + good) == "!bad_json | d@5 t=1");
}

TEST_CASE("framing") {
  check(R"({"framing":"confluent"})",
        {{"\0\0\0\0\x2b{\"device\":\"d\",\"ts\":5,\"metrics\":{\"t\":1}}"sv, "d@5 t=1"},
         {"{\"device\":\"d\",\"ts\":5,\"metrics\":{\"t\":1}}"sv, "!no_framing"},
         {"\0\0\0\0\x2b"sv, "!empty_value"},
         {"\0\0"sv, "!no_framing"},
         {""sv, "!empty_value"}});
}

TEST_CASE("devices of several parts") {
  check(R"({"device":["/site","key","/unit"]})",
        {{R"({"site":"s","unit":7,"ts":5,"metrics":{"t":1}})", "s/key-1/7@5 t=1"},
         {R"([{"site":"s","unit":7,"ts":5,"metrics":{"t":1}},{"site":"s","ts":5,"metrics":{"t":1}}])",
          "s/key-1/7@5 t=1 | !no_device"},
         {R"({"site":"","unit":7,"ts":5,"metrics":{"t":1}})", "!bad_device"}});
  const std::string half(130, 'x');
  const std::string too_long = R"({"a":")" + half + R"(","b":")" + half + R"(","ts":5,"metrics":{"t":1}})";
  check(R"({"device":["/a","/b"]})", {{too_long, "!bad_device"}});
}

TEST_CASE("headers: the last of a name counts") {
  const auto parser = make_payload_parser(shape_of(R"({"device":"header:id"})"));
  const std::string_view value = R"({"ts":5,"metrics":{"t":1}})";
  const auto outcome = [&](const RecordHeaders& headers) {
    RecordView record{value};
    record.timestamp_ms = kArrival;
    record.headers = &headers;
    return describe(parser->parse(record));
  };
  CHECK(outcome({{"id", "a"}, {"x", "y"}, {"id", "b"}}) == "b@5 t=1");
  CHECK(outcome({{"id", "a"}, {"id", std::nullopt}}) == "!no_device");
  CHECK(outcome({{"id", ""}}) == "!bad_device");
  CHECK(outcome({{"id", "\xff"}}) == "!bad_device");
  CHECK(outcome({}) == "!no_device");
  CHECK(describe(parser->parse({value, std::nullopt, kArrival})) == "!no_device");
}

TEST_CASE("a record's time as the event time") {
  const auto parser = make_payload_parser(shape_of(R"({"time":"record"})"));
  const std::string_view value = R"({"device":"d","metrics":{"t":1}})";
  CHECK(describe(parser->parse({value, std::nullopt, 5})) == "d@5 t=1");
  CHECK(describe(parser->parse({value, std::nullopt, -1})) == "!no_time");
}

}  // namespace
}  // namespace hourfold
