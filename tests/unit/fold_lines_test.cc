#include "app/fold_lines.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/output.h"
#include "payload/avro_schemas.h"

namespace hourfold {
namespace {

std::vector<std::string> rows(LineFolder& folder) {
  std::vector<std::string> out;
  folder.each_row([&](const LineFolder::Row& row) {
    std::string text(row.device);
    text.append(" ").append(row.metric).append(" ");
    append_number(text, row.hour.ms);
    for (const double value : {row.rollup.min, row.rollup.max, row.rollup.sum}) {
      text += ' ';
      append_number(text, value);
    }
    text += ' ';
    append_number(text, row.rollup.count);
    out.push_back(text);
  });
  return out;
}

// A folder that has folded some lines.
class Folded : public LineFolder {
 public:
  explicit Folded(const std::vector<std::string>& lines, bool deduplicate = true)
      : LineFolder(settings(deduplicate), {}) {
    for (const std::string& line : lines) fold(line);
  }

 private:
  static ReadingConfig settings(bool deduplicate) {
    ReadingConfig reading;
    reading.deduplicate = deduplicate;
    return reading;
  }
};

std::string line(const std::string& device, EpochMs time, const std::string& metrics,
                 const std::string& more = "") {
  return R"({"device":")" + device + R"(","ts":)" + std::to_string(time) + R"(,"metrics":{)" + metrics + "}" +
         more + "}";
}

using Rows = std::vector<std::string>;

TEST_CASE("fold: rows come by device bytes, metric bytes and hour") {
  Folded folder({line("b", 2 * kHourMs, R"("x":1)"), line("a", 3 * kHourMs, R"("y":2,"x":3)"),
                 line("a", kHourMs + 5, R"("x":4)"), line("\xc3\xa9", 0, R"("x":5)"),
                 line("B", kHourMs - 1, R"("x":6)")});
  CHECK(rows(folder) == Rows{"B x 0 6 6 6 1", "a x 3600000 4 4 4 1", "a x 10800000 3 3 3 1",
                             "a y 10800000 2 2 2 1", "b x 7200000 1 1 1 1", "\xc3\xa9 x 0 5 5 5 1"});
  CHECK(folder.counts().rows == 6);
}

TEST_CASE("fold: a repeated time counts once, or each time where the configuration says so") {
  const std::vector<std::string> lines = {line("a", 1, R"("x":1)"), line("a", 1, R"("x":1)"),
                                          line("a", 1, R"("x":7,"y":2)")};
  Folded once(lines);
  CHECK(rows(once) == Rows{"a x 0 1 1 1 1", "a y 0 2 2 2 1"});
  CHECK(once.counts().folded == 2);
  CHECK(once.counts().duplicate == 1);
  CHECK(once.counts().conflicts == 1);
  CHECK(once.counts().duplicate_values == 2);
  Folded each(lines, false);
  CHECK(rows(each) == Rows{"a x 0 1 7 9 3", "a y 0 2 2 2 1"});
}

TEST_CASE(
    "case 9: fold: arrival is arrival_ts where a line has it, else the event time; both bounds are "
    "inclusive") {
  const ArrivalPolicy policy;
  const EpochMs event = 100 * 24 * kHourMs;
  const auto arrived = [&](EpochMs arrival) {
    return line("a", event, R"("x":1)", R"(,"arrival_ts":)" + std::to_string(arrival));
  };
  struct Case {
    std::string line;
    std::uint64_t folded, quarantined, archived, malformed;
  };
  for (const Case& c :
       {Case{line("a", event, R"("x":1)"), 1, 0, 0, 0}, Case{arrived(event + policy.max_age_ms), 1, 0, 0, 0},
        Case{arrived(event + policy.max_age_ms + 1), 0, 0, 1, 0},
        Case{arrived(event - policy.max_future_ms), 1, 0, 0, 0},
        Case{arrived(event - policy.max_future_ms - 1), 0, 1, 0, 0},
        Case{line("a", event, R"("x":1)", R"(,"arrival_ts":null)"), 1, 0, 0, 0},
        Case{line("a", event, R"("x":1)", R"(,"arrival_ts":"soon")"), 0, 0, 0, 1}}) {
    CAPTURE(c.line);
    const Folded folder({c.line});
    CHECK(folder.counts().folded == c.folded);
    CHECK(folder.counts().quarantined == c.quarantined);
    CHECK(folder.counts().archived == c.archived);
    CHECK(folder.counts().malformed == c.malformed);
  }
}

TEST_CASE("fold: a configured arrival field must be there") {
  ReadingConfig reading;
  reading.shape.arrival = "/received";
  LineFolder folder(reading, {});
  folder.fold(line("a", 1, R"("x":1)"));
  folder.fold(line("a", 2, R"("x":1)", R"(,"received":5)"));
  CHECK(folder.counts().folded == 1);
  CHECK(folder.counts().malformed_by_reason[static_cast<std::size_t>(Malformed::kNoArrival)] == 1);
}

TEST_CASE("fold: binary values are lines in hex") {
  ReadingConfig reading;
  reading.shape.format = PayloadFormat::kAvro;
  reading.shape.metrics = "";
  reading.shape.schema =
      R"({"type":"record","name":"R","fields":[{"name":"device","type":"string"},{"name":"ts","type":"long"},{"name":"t","type":"double"}]})";
  const auto schemas = FixedAvroSchemas::parse(reading.shape);
  REQUIRE(schemas);
  LineFolder folder(reading, {}, schemas->get());
  folder.fold("04643180a0d5edee660000000000803540");
  folder.fold("04643180A0D5EDEE660000000000803541\r");
  folder.fold("04643180a0d5edee66000000000080354");
  folder.fold("{}");
  CHECK(folder.counts().folded == 1);
  CHECK(folder.counts().duplicate == 1);
  CHECK(folder.counts().malformed_by_reason[static_cast<std::size_t>(Malformed::kBadAvro)] == 2);
  CHECK(LineFolder::schema_id("000000002a0464") == 42);
  CHECK(LineFolder::schema_id("010000002a0464") == std::nullopt);
  CHECK(LineFolder::schema_id("zz") == std::nullopt);
}

TEST_CASE("fold: counts add up, empty lines are none") {
  Folded folder({"", "  \t", "\r", "nonsense",
                 R"([{"device":"a","ts":1,"metrics":{"x":1,"y":"no"}},{"ts":2}])", line("a", 3, ""),
                 line("a", 1, R"("x":1)")});
  const FoldCounts& counts = folder.counts();
  CHECK(counts.lines == 4);
  CHECK(counts.readings == 5);
  CHECK(counts.folded == 2);  // one of them a heartbeat
  CHECK(counts.duplicate == 1);
  CHECK(counts.malformed == 2);
  CHECK(counts.malformed_by_reason[static_cast<std::size_t>(Malformed::kBadJson)] == 1);
  CHECK(counts.malformed_by_reason[static_cast<std::size_t>(Malformed::kNoDevice)] == 1);
  CHECK(counts.rejected_metrics[static_cast<std::size_t>(MetricReject::kString)] == 1);
  CHECK(folder.last_malformed() == Malformed::kNoDevice);
}

TEST_CASE("fold: an hour that overflows is infinite, as a string in JSON") {
  Folded folder({line("a", 1, R"("x":1e308)"), line("a", 2, R"("x":1e308)"), line("a", 3, R"("x":-1e308)")});
  CHECK(rows(folder) == Rows{"a x 0 -1e+308 1e+308 Infinity 3"});
  std::string text;
  append_json_number(text, std::numeric_limits<double>::infinity());
  append_json_number(text, -std::numeric_limits<double>::infinity());
  CHECK(text == R"("Infinity""-Infinity")");
}

TEST_CASE("output: numbers read back exactly, names are escaped") {
  struct Case {
    double value;
    const char* text;
  };
  for (const Case& c : {Case{28, "28"}, Case{0.1, "0.1"}, Case{-0.0, "-0.0"}, Case{0, "0"},
                        Case{5e-324, "5e-324"}, Case{1.7976931348623157e308, "1.7976931348623157e+308"},
                        Case{9007199254740993.0, "9007199254740992"}}) {
    std::string text;
    append_number(text, c.value);
    CHECK(text == c.text);
  }
  std::string json;
  append_json_string(json, "a\"b\\c\n\x01\x1f\xc3\xa9");
  CHECK(json == "\"a\\\"b\\\\c\\n\\u0001\\u001f\xc3\xa9\"");
  std::string csv;
  append_csv_field(csv, "plain ");
  append_csv_field(csv, "a,b\"c");
  CHECK(csv == "plain \"a,b\"\"c\"");
  CHECK(format_utc(1767225600123) == "2026-01-01T00:00:00Z");
  CHECK(format_utc(0) == "1970-01-01T00:00:00Z");
}

}  // namespace
}  // namespace hourfold
