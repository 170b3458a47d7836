// What people are told of readings that are not read: what was looked for, what was there, what to set.
#include "payload/explain.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/payload_print.h"
#include "app/payload_report.h"
#include "core/config.h"

namespace hourfold {
namespace {

constexpr EpochMs kNow = 1'767'225'600'000;

Config config_of(const std::string& reading) {
  auto config = parse_config("{\"reading\":" + reading + "}", "test", {}, {}, false);
  REQUIRE_MESSAGE(static_cast<bool>(config), (config ? std::string() : config.error().message));
  return *config;
}

PayloadReport report(const std::string& reading, const std::string& value,
                     const std::optional<std::string>& key = std::nullopt) {
  return report_of(config_of(reading), {{"sample", {-1, key, value, {}}}}, kNow);
}

struct Case {
  std::string reading;
  std::string sample;
  Malformed reason;
  std::vector<std::string> told;
};

TEST_CASE("explain: a malformed reading says where it was looked and what to set") {
  const Case cases[] = {
      {"{}",
       R"({"id":"d1","ts":1767225600000,"metrics":{"t":1}})",
       Malformed::kNoDevice,
       {"No device at /device", "id, metrics{t}, ts", R"("device": "/id" would find "d1")"}},
      {"{}",
       R"({"device":["d1"],"ts":1767225600000,"metrics":{"t":1}})",
       Malformed::kBadDevice,
       {"at /device is a list", "a text or a whole number"}},
      {R"({"device":"key"})", R"({"ts":1767225600000,"metrics":{"t":1}})", Malformed::kNoDevice, {"--key"}},
      {R"({"device":"header:device-id"})",
       R"({"ts":1767225600000,"metrics":{"t":1}})",
       Malformed::kNoDevice,
       {"device-id"}},
      {"{}",
       R"({"device":"d1","time":1767225600,"metrics":{"t":1}})",
       Malformed::kNoTime,
       {"No event time at /ts", R"("time": "/time" would find 1767225600)", R"("time_unit": "s")"}},
      {"{}", R"({"device":"d1","metrics":{"t":1}})", Malformed::kNoTime, {R"("time": "record")"}},
      {"{}",
       R"({"device":"d1","ts":"2026-01-01T00:00:00Z","metrics":{"t":1}})",
       Malformed::kBadTime,
       {"milliseconds", R"("time_unit": "rfc3339" reads it)"}},
      {"{}",
       R"({"device":"d1","ts":"1767225600","metrics":{"t":1}})",
       Malformed::kBadTime,
       {R"("time_unit": "s" with "time_strings": true)"}},
      {R"({"time_unit":"rfc3339"})",
       R"({"device":"d1","ts":"2026-01-01 00:00:00","metrics":{"t":1}})",
       Malformed::kBadTime,
       {R"("time_zone": "Z")"}},
      {"{}",
       R"({"device":"d1","ts":1767225600000,"values":{"t":1}})",
       Malformed::kNoMetrics,
       {"No metrics at /metrics", R"("metrics": "/values")"}},
      {R"({"metric":"/m"})",
       R"({"device":"d1","ts":1767225600000,"metric":"t","value":1})",
       Malformed::kNoMetrics,
       {"at /m", R"("metric": "/metric")"}},
      {R"({"body":"/data"})",
       R"({"device":"d1"})",
       Malformed::kNoBody,
       {R"(reading.body is "/data")", "device"}},
      {R"({"framing":"confluent"})", R"({"device":"d1"})", Malformed::kNoFraming, {"framing"}},
      {"{}",
       R"({"device":"d1","ts":1767225600000,"metrics":{"t":"on"}})",
       Malformed::kNoUsableMetric,
       {"number"}},
      {"{}", "{'device': 'd1'}", Malformed::kBadJson, {"byte 2", "json.dumps"}},
      {"{}", R"({"device":"d1",})", Malformed::kBadJson, {"comma"}},
      {"{}", R"({"device":"d1")", Malformed::kBadJson, {"cut"}},
      {"{}", "weather t=1", Malformed::kBadJson, {"no JSON", "reading.format"}},
      {"{}", "{\"device\":\"d\xff\"}", Malformed::kBadUtf8, {"byte 13", "UTF-8"}},
      {"{}", "[1]", Malformed::kNotAnObject, {"There is 1 where"}},
      {"{}", R"("{\"a\":1}")", Malformed::kNotAnObject, {R"("body": "")"}},
  };
  for (const Case& wanted : cases) {
    CAPTURE(wanted.sample);
    const PayloadReport given = report(wanted.reading, wanted.sample);
    REQUIRE(given.records.size() == 1);
    REQUIRE(given.records[0].readings.size() == 1);
    const ReportedReading& reading = given.records[0].readings[0];
    CHECK(to_string(reading.malformed) == to_string(wanted.reason));
    CAPTURE(reading.explanation);
    for (const std::string& told : wanted.told) {
      CAPTURE(told);
      CHECK(reading.explanation.find(told) != std::string::npos);
    }
  }
}

TEST_CASE("explain: every reason has words, whatever the sample") {
  const Config config = config_of(R"({"body":"/b","device":["/d","envelope:/e"]})");
  const RecordCopy record{kNow, std::nullopt, "{\"b\":[{}]}", {}};
  for (std::size_t i = 1; i < static_cast<std::size_t>(Malformed::kCount); ++i)
    CHECK(!explain_malformed(static_cast<Malformed>(i), {config.reading.shape, record, 0, 1}).empty());
  for (std::size_t i = 0; i < static_cast<std::size_t>(MetricReject::kCount); ++i)
    CHECK(!explain_rejected(static_cast<MetricReject>(i), 1, config.reading.shape, record).empty());
}

TEST_CASE("explain: values that are left out are named, with what would take them") {
  const std::string sample =
      R"({"device":"d1","ts":1767225600000,"metrics":{"n":1,"t":"21.5","c":"1,5","s":"on","b":true,"l":[1],"a":{"x":"y"}}})";
  const PayloadReport given = report("{}", sample);
  CHECK(given.folded == 1);
  CHECK(given.rejected == 6);
  const std::vector<std::string>& words = given.records[0].rejected_words;
  REQUIRE(words.size() == 3);
  CHECK(words[0].find("4 texts (a.x=\"y\", c=\"1,5\", s=\"on\", t=\"21.5\")") == 0);
  CHECK(words[0].find("2 would be taken") != std::string::npos);
  CHECK(words[0].find("decimal_comma") != std::string::npos);
  CHECK(words[1].find("b=true") != std::string::npos);
  CHECK(words[2].find("(l)") != std::string::npos);
  const PayloadReport denied =
      report(R"({"select":{"deny":["s","a.*"]},"numeric_strings":true,"decimal_comma":true})", sample);
  CHECK(denied.rejected == 2);
}

TEST_CASE("report: arrival, verdicts and what partitioning rests on") {
  // Without a timestamp a record arrives with its newest event.
  const std::string two =
      R"([{"device":"d1","ts":1767225600000,"metrics":{}},{"device":"d2","ts":1764000000000,"metrics":{"t":1}}])";
  const PayloadReport given = report("{}", two, "d1");
  CHECK(given.folded == 1);
  CHECK(given.archived == 1);
  CHECK(given.records[0].readings[1].explanation.find("policy.max_age (29d)") != std::string::npos);
  REQUIRE(given.notes.size() == 1);
  CHECK(given.notes[0].find("\"any\"") != std::string::npos);
  const PayloadReport other = report("{}", R"({"device":"d1","ts":1767225600000,"metrics":{"t":1}})", "d2");
  REQUIRE(other.notes.size() == 1);
  CHECK(other.notes[0].find("\"trusted\"") != std::string::npos);
  // Seconds taken for milliseconds are sound, and hardly meant.
  const PayloadReport odd = report("{}", R"({"device":"d1","ts":1767225600,"metrics":{"t":1}})");
  CHECK(odd.archived == 1);
  CHECK(odd.records[0].readings[0].explanation.find(R"("time_unit": "s")") != std::string::npos);
}

TEST_CASE("report: tombstones are skipped, and many readings are explained once") {
  const PayloadReport none = report_of(Config{}, {{"sample", {kNow, "d1", std::nullopt, {}}}}, kNow);
  CHECK(none.readings == 0);
  CHECK(report_text(none, {}).find("1 tombstone skipped") != std::string::npos);
  std::string many = "[";
  for (int i = 0; i < 200; ++i) many += (i > 0 ? ",{\"id\":\"d" : "{\"id\":\"d") + std::to_string(i) + "\"}";
  const PayloadReport given = report("{}", many + "]");
  CHECK(given.malformed == 200);
  const std::string text = report_text(given, {});
  CHECK(text.find("And 188 more like these.") != std::string::npos);
  CHECK(text.find("and 160 more readings") != std::string::npos);
}

TEST_CASE("report: the text fits the terminal and hides no control characters") {
  const PayloadReport given = report(
      "{}",
      R"({"device":"d\u001b[31m","ts":1767225600000,"metrics":{"a_rather_long_name":1.5,"another_long_name":2.5}})");
  const std::string text = report_text(given, {80, false});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("2026-01-01T00:00:00.000Z") != std::string::npos);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    CHECK(end - begin <= 80);
    begin = end + 1;
  }
  CHECK(report_text(given, {80, true}).find("\x1b[32m") != std::string::npos);
}

}  // namespace
}  // namespace hourfold
