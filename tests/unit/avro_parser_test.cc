#include "payload/avro_parser.h"

#include <doctest/doctest.h>

#include <string>

#include "core/config.h"
#include "tests/unit/payload_examples.h"

namespace hourfold {
namespace {

const std::string kDevice =
    R"({"type":"record","name":"R","fields":[{"name":"device","type":"string"},{"name":"ts","type":"long"},{"name":"t","type":"double"}]})";
const std::string kWithHumidity =
    R"({"type":"record","name":"R","fields":[{"name":"h","type":["null","float"]},{"name":"ts","type":"long"},{"name":"device","type":"string"},{"name":"t","type":"double"}]})";

const std::string kD1 = "046431";             // "d1"
const std::string kTs = "80a0d5edee66";       // 1767225600000
const std::string kT = "0000000000803540";    // 21.5
const std::string kNan = "000000000000f87f";  // NaN
const std::string kInf = "000000000000f0ff";  // -Infinity

// The parser of a section of the configuration, and what it says of values in hex.
class Parser {
 public:
  explicit Parser(const std::string& reading) {
    const auto config = parse_config("{\"reading\":" + reading + "}", "test", {}, {}, false);
    REQUIRE_MESSAGE(static_cast<bool>(config), (config ? std::string() : config.error().message));
    auto schemas = FixedAvroSchemas::parse(config->reading.shape);
    REQUIRE_MESSAGE(static_cast<bool>(schemas), (schemas ? std::string() : schemas.error().message));
    schemas_ = std::move(*schemas);
    parser_ = make_payload_parser(config->reading.shape, schemas_.get());
  }
  std::string operator()(const std::string& hex) {
    const std::string value = test::unhex(hex);
    return told(parser_->parse({.value = value, .timestamp_ms = PayloadExample::kArrival}));
  }

 private:
  std::unique_ptr<AvroSchemas> schemas_;
  std::unique_ptr<PayloadParser> parser_;
};

std::string framed(const std::string& schemas) {
  return R"({"format":"avro","framing":"confluent","metrics":"","schemas":)" + schemas + "}";
}
std::string unframed(const std::string& schema, const std::string& more = R"("metrics":"")") {
  return R"({"format":"avro","schema":)" + schema + "," + more + "}";
}

TEST_CASE("avro records: by the id in front, each by its own schema") {
  Parser parse(framed(R"({"42":)" + kDevice + R"(,"43":)" + kWithHumidity + "}"));
  const std::string d1 = "d1 @ 1767225600000  t=21.5\n";
  CHECK(parse("000000002a" + kD1 + kTs + kT) == d1);
  CHECK(parse("000000002b"
              "02"
              "00002042" +
              kTs + kD1 + kT) == "d1 @ 1767225600000  h=40 t=21.5\n");
  CHECK(parse("000000002b"
              "00" +
              kTs + kD1 + kT) == d1);
  CHECK(parse("000000002a" + kD1 + kTs + kT) == d1);
  CHECK(parse("000000002c" + kD1 + kTs + kT) == "! unknown_schema\n");
  CHECK(parse("00ffffffff" + kD1 + kTs + kT) == "! unknown_schema\n");
  CHECK(parse("000000002a" + kD1 + kTs) == "! bad_avro\n");
  CHECK(parse("000000002a" + kD1 + kTs + kT + "00") == "! bad_avro\n");
  CHECK(parse("010000002a" + kD1 + kTs + kT) == "! no_framing\n");
  CHECK(parse("00000000") == "! no_framing\n");
  CHECK(parse("7b7d") == "! no_framing\n");
  CHECK(parse("") == "! empty_value\n");
}

TEST_CASE("avro records: as a Confluent serializer writes one") {
  Parser parse(framed(R"({"42":)" + kDevice + "}"));
  CHECK(parse("000000002a04643180c0f39bef660000000000803540") == "d1 @ 1767274082304  t=21.5\n");
}

TEST_CASE("avro records: without framing") {
  Parser parse(unframed(kDevice));
  CHECK(parse(kD1 + kTs + kT) == "d1 @ 1767225600000  t=21.5\n");
  CHECK(parse("") == "! empty_value\n");
  CHECK(parse(kD1 + kTs) == "! bad_avro\n");
  CHECK(parse("000000002a" + kD1 + kTs + kT) == "! framed\n");
  CHECK(parse("1f8b0800000000000003") == "! compressed\n");
  CHECK(parse("04c328" + kTs + kT) == "! bad_utf8\n");
}

TEST_CASE("avro records: numbers that are none cost their metric alone") {
  const std::string schema =
      R"({"type":"record","name":"R","fields":[{"name":"device","type":"string"},{"name":"ts","type":"double"},{"name":"metrics","type":{"type":"map","values":"double"}},{"name":"lat","type":"double"}]})";
  Parser parse(unframed(schema, R"("time_unit":"s")"));
  const std::string seconds = "0000809de555da41";  // 1767347830.0
  const std::string metrics =
      "04"
      "0274" +
      kT + "0275" + kNan + "00";
  CHECK(parse(kD1 + seconds + metrics + kInf) == "d1 @ 1767347830000  t=21.5\n[not_finite: 1]\n");
  CHECK(parse(kD1 + seconds + metrics + kNan) == "d1 @ 1767347830000  t=21.5\n[not_finite: 1]\n");
  CHECK(parse(kD1 + kNan + metrics + kT) == "! bad_time\n");
  CHECK(parse(kD1 + kInf + metrics + kT) == "! bad_time\n");
}

TEST_CASE("avro records: several, and readings inside") {
  Parser list(unframed(R"({"type":"array","items":)" + kDevice + "}"));
  CHECK(list("04" + kD1 + kTs + kT + "046432" + kTs + kT + "00") ==
        "d1 @ 1767225600000  t=21.5\nd2 @ 1767225600000  t=21.5\n");
  CHECK(list("00") == "! not_an_object\n");

  // JSON as bytes in Avro.
  const std::string envelope =
      R"({"type":"record","name":"E","fields":[{"name":"id","type":"string"},{"name":"payload","type":"bytes"}]})";
  Parser inside(
      unframed(envelope, R"("body":"/payload","device":"envelope:/id","time":"record","metrics":"")"));
  CHECK(inside("046431"
               "12"
               "7b2274223a32312e357d")
            .starts_with("! "));
  CHECK(inside("046431"
               "14"
               "7b2274223a32312e357d") == "d1 @ 1767225600000  t=21.5\n");
}

TEST_CASE("avro: what the configuration holds is checked") {
  ReadingShape shape;
  shape.format = PayloadFormat::kAvro;
  shape.schema = R"({"type":"flaot"})";
  const auto one = FixedAvroSchemas::parse(shape);
  REQUIRE_FALSE(one);
  CHECK(one.error().kind == ErrorKind::kRefused);
  CHECK(one.error().message ==
        "reading.schema: is no Avro schema: \"flaot\" is no type, and none of that name is defined before");
  shape.schema.clear();
  shape.schemas = {{7, "{"}};
  const auto by_id = FixedAvroSchemas::parse(shape);
  REQUIRE_FALSE(by_id);
  CHECK(by_id.error().message == "reading.schemas.7: is no Avro schema: it is no JSON");
}

}  // namespace
}  // namespace hourfold
