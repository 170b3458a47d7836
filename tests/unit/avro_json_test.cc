// Golden bytes of each type, as the Avro specification has them, and bytes that mean harm.
#include "payload/avro_json.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/payload_examples.h"

namespace hourfold {
namespace {

struct Case {
  std::string schema;
  std::string hex;
  std::string json;
};

std::string read(const std::string& schema_text, std::string_view bytes) {
  const auto schema = AvroSchema::parse(schema_text);
  REQUIRE_MESSAGE(static_cast<bool>(schema), (schema ? std::string() : schema.error().message));
  std::string json;
  const Malformed reason = avro_to_json(**schema, bytes, json);
  return reason == Malformed::kNone ? json : "! " + std::string(to_string(reason));
}

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    CAPTURE(one.schema);
    CAPTURE(one.hex);
    CHECK(read(one.schema, test::unhex(one.hex)) == one.json);
  }
}

std::string decimal(int precision, int scale) {
  return R"({"type":"bytes","logicalType":"decimal","precision":)" + std::to_string(precision) +
         R"(,"scale":)" + std::to_string(scale) + "}";
}

const std::string kList =
    R"({"type":"record","name":"L","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","L"]}]})";

TEST_CASE("avro: primitive types") {
  check({
      {R"("null")", "", "null"},
      {R"("boolean")", "00", "false"},
      {R"("boolean")", "01", "true"},
      {R"("boolean")", "02", "! bad_avro"},
      {R"("int")", "00", "0"},
      {R"("int")", "01", "-1"},
      {R"("int")", "02", "1"},
      {R"("int")", "7f", "-64"},
      {R"("int")", "8001", "64"},
      {R"("int")", "feffffff0f", "2147483647"},
      {R"("int")", "ffffffff0f", "-2147483648"},
      {R"("int")", "8080808010", "! bad_avro"},  // 2147483648
      {R"("int")", "8180808010", "! bad_avro"},
      {R"("long")", "8080808010", "2147483648"},
      {R"("long")", "80a0d5edee66", "1767225600000"},
      {R"("long")", "feffffffffffffffff01", "9223372036854775807"},
      {R"("long")", "ffffffffffffffffff01", "-9223372036854775808"},
      {R"("long")", "ffffffffffffffffff02", "! bad_avro"},    // a 65th bit
      {R"("long")", "8080808080808080808000", "! bad_avro"},  // an eleventh byte
      {R"("float")", "0000ac41", "21.5"},
      {R"("float")", "3333ab41", "21.4"},
      {R"("float")", "00000080", "-0"},
      {R"("float")", "0000c07f", "NaN"},
      {R"("double")", "0000000000803540", "21.5"},
      {R"("double")", "9a9999999999b93f", "0.1"},
      {R"("double")", "0000000000000080", "-0"},
      {R"("double")", "ffffffffffffef7f", "1.7976931348623157e+308"},
      {R"("double")", "000000000000f07f", "Infinity"},
      {R"("double")", "000000000000f0ff", "-Infinity"},
      {R"("string")", "00", R"("")"},
      {R"("string")", "06666f6f", R"("foo")"},
      {R"("string")", "0a225c0a00c3", "\"\\\"\\\\\\u000a\\u0000\xc3\""},  // judged where the JSON is read
      {R"("string")", "01", "! bad_avro"},                                // a length of -1
      {R"("bytes")", "087be2827d", R"("{\u00e2\u0082}")"},
      {R"("bytes")", "06e282ac", "\"\xe2\x82\xac\""},
      {R"("bytes")", "06e2820a", R"("\u00e2\u0082\u000a")"},
  });
}

TEST_CASE("avro: complex types") {
  const std::string test =
      R"({"type":"record","name":"test","fields":[{"name":"a","type":"long"},{"name":"b","type":"string"}]})";
  const std::string longs = R"({"type":"array","items":"long"})";
  const std::string map = R"({"type":"map","values":"long"})";
  check({
      {test, "3606666f6f", R"({"a":27,"b":"foo"})"},
      {R"({"type":"record","name":"R","fields":[]})", "", "{}"},
      {R"({"type":"record","name":"R","fields":[{"name":"a\"b","type":"null"}]})", "", R"({"a\"b":null})"},
      {R"({"type":"enum","name":"Foo","symbols":["A","B","C","D"]})", "06", R"("D")"},
      {R"({"type":"enum","name":"Foo","symbols":["A"]})", "02", "! bad_avro"},
      {R"({"type":"enum","name":"Foo","symbols":["A"]})", "01", "! bad_avro"},
      {longs, "04063600", "[3,27]"},
      {longs, "00", "[]"},
      {longs, "0206023600", "[3,27]"},
      {longs, "0304063600", "[3,27]"},      // two items of two bytes
      {longs, "0306063600", "! bad_avro"},  // of three
      {longs, "0302063600", "! bad_avro"},
      {longs, "0301063600", "! bad_avro"},
      {map, "0202610600", R"({"a":3})"},
      {map, "0402610602620800", R"({"a":3,"b":4})"},
      {map, "010602610600", R"({"a":3})"},
      {R"(["null","string"])", "00", "null"},
      {R"(["null","string"])", "020261", R"("a")"},
      {R"(["null","string"])", "04", "! bad_avro"},
      {R"(["null","string"])", "01", "! bad_avro"},
      {R"({"type":"fixed","name":"F","size":3})", "616263", R"("abc")"},
      {R"({"type":"fixed","name":"F","size":3})", "6162", "! bad_avro"},
      {R"({"type":"fixed","name":"F","size":16,"logicalType":"uuid"})", "00112233445566778899aabbccddeeff",
       R"("00112233-4455-6677-8899-aabbccddeeff")"},
      {kList, "02020400", R"({"v":1,"next":{"v":2,"next":null}})"},
      {R"("long")", "0200", "! bad_avro"},  // a byte behind
  });
}

TEST_CASE("avro: decimals, digit for digit") {
  const std::string fixed =
      R"({"type":"fixed","name":"F","size":4,"logicalType":"decimal","precision":9,"scale":3})";
  check({
      {decimal(4, 2), "0200", "0.00"},
      {decimal(4, 2), "0205", "0.05"},
      {decimal(4, 2), "02ff", "-0.01"},
      {decimal(4, 2), "040866", "21.50"},
      {decimal(4, 2), "04f79a", "-21.50"},
      {decimal(4, 0), "0280", "-128"},
      {decimal(4, 0), "0400ff", "255"},
      {decimal(20, 0), "10ffffffffffffffff", "-1"},
      {decimal(31, 0), "1a0c9f2c9cd04674edea40000000", "1000000000000000000000000000000"},
      {decimal(4, 2), "00", "! bad_avro"},
      {fixed, "000053fc", "21.500"},
      {fixed, "ffffffff", "-0.001"},
      // No decimal: its bytes are a text.
      {decimal(0, 0), "0261", R"("a")"},
      {decimal(1, 2), "0261", R"("a")"},
  });
  const std::string most = test::unhex("8004") + "\x7f" + std::string(255, '\xff');
  const std::string digits = read(decimal(616, 1), most);
  CHECK(digits.size() == 618);
  CHECK(digits.starts_with("161585030356555036503574383443349759802220"));
  CHECK(digits.ends_with("79811532.7"));
  CHECK(read(decimal(616, 0), test::unhex("8204") + std::string(257, '\0')) == "! bad_avro");
}

TEST_CASE("avro: every prefix of a value is bad, and whatever is behind it") {
  const std::string schema = R"({"type":"record","name":"R","fields":[
      {"name":"s","type":"string"},{"name":"l","type":"long"},{"name":"d","type":"double"},
      {"name":"m","type":{"type":"map","values":["null","float"]}},
      {"name":"a","type":{"type":"array","items":{"type":"record","name":"I","fields":[{"name":"b","type":"bytes"}]}}},
      {"name":"f","type":{"type":"fixed","name":"F","size":2}},{"name":"t","type":"boolean"}]})";
  const std::string value = test::unhex(
      "046431"
      "80a0d5edee66"
      "0000000000803540"
      "0204743102"
      "0000ac41"
      "00"
      "0306"
      "0261"
      "0262"
      "00"
      "7879"
      "01");
  // Of an array with a wrong size of its block.
  CHECK(read(schema, value) == "! bad_avro");
  const std::string sound = test::unhex(
      "046431"
      "80a0d5edee66"
      "0000000000803540"
      "0204743102"
      "0000ac41"
      "00"
      "0308"
      "02610262"
      "00"
      "7879"
      "01");
  CHECK(
      read(schema, sound) ==
      R"({"s":"d1","l":1767225600000,"d":21.5,"m":{"t1":21.5},"a":[{"b":"a"},{"b":"b"}],"f":"xy","t":true})");
  for (std::size_t size = 0; size < sound.size(); ++size)
    CHECK(read(schema, sound.substr(0, size)) == "! bad_avro");
  CHECK(read(schema, sound + '\0') == "! bad_avro");
}

TEST_CASE("avro: lengths and counts that lie") {
  const std::string huge = "feffffffffffffffff01";
  const std::string two_to_60 = "808080808080808020";
  const std::string nulls = R"({"type":"array","items":"null"})";
  const std::string empties = R"({"type":"array","items":{"type":"record","name":"E","fields":[]}})";
  check({
      {R"("string")", huge + "61", "! bad_avro"},
      {R"("bytes")", huge + "61", "! bad_avro"},
      {R"({"type":"fixed","name":"F","size":2147483647})", "61", "! bad_avro"},
      {R"({"type":"array","items":"long"})", huge + "0202", "! bad_avro"},
      {R"({"type":"map","values":"null"})", two_to_60 + "026100", "! bad_avro"},
      {nulls, "0600", "[null,null,null]"},
      {nulls, two_to_60 + "00", "! bad_avro"},
      {nulls, "ffffffffffffffffff0100", "! bad_avro"},  // the lowest count, which has no absolute value
      {nulls,
       "ffffffffffffffff1f"
       "00"
       "00",
       "! bad_avro"},
      {empties, two_to_60 + "00", "! bad_avro"},
      {R"({"type":"array","items":)" + nulls + "}", "02" + two_to_60 + "0000", "! bad_avro"},
  });
}

TEST_CASE("avro: a small value does not become a large text without end") {
  // 100,000 nulls in three bytes, again and again.
  std::string value;
  for (int i = 0; i < 20'000; ++i) value += test::unhex("c09a0c");
  const auto schema = AvroSchema::parse(R"({"type":"array","items":"null"})");
  REQUIRE(schema);
  std::string json;
  CHECK(avro_to_json(**schema, value + '\0', json) == Malformed::kBadAvro);
  CHECK(json.size() < (8 << 20));

  // Records without bytes, each of ten of the next kind.
  std::string nested = R"("null")";
  for (int level = 0; level < 30; ++level) {
    std::string fields;
    for (int f = 0; f < 10; ++f) {
      fields += std::string(f == 0 ? "" : ",") + R"({"name":"f)" + std::to_string(f) + R"(","type":)";
      fields += f == 0 ? nested : (level == 0 ? R"("null")" : "\"R" + std::to_string(level - 1) + "\"");
      fields += "}";
    }
    nested = R"({"type":"record","name":"R)" + std::to_string(level) + R"(","fields":[)" + fields + "]}";
  }
  const auto wide = AvroSchema::parse(nested);
  REQUIRE_MESSAGE(static_cast<bool>(wide), (wide ? std::string() : wide.error().message));
  CHECK(avro_to_json(**wide, "", json) == Malformed::kBadAvro);
  CHECK(json.size() < (2 << 20));
}

TEST_CASE("avro: recursion ends") {
  std::string value;
  for (std::size_t level = 0; level < kMaxDepth; ++level) value += test::unhex(level == 0 ? "02" : "0202");
  CHECK(read(kList, value + '\0').starts_with("{\"v\":1"));
  CHECK(read(kList, value + test::unhex("020200")) == "! too_deep");
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "\2\2";
  CHECK(read(kList, deep) == "! too_deep");
  // A record that can never end.
  CHECK(read(R"({"type":"record","name":"R","fields":[{"name":"r","type":"R"}]})", "") == "! too_deep");
}

TEST_CASE("avro: any bytes are read without harm") {
  const auto schema = AvroSchema::parse(
      R"({"type":"array","items":["null","string",{"type":"map","values":"bytes"},{"type":"record","name":"R","fields":[{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},{"name":"r","type":{"type":"array","items":["int","R"]}}]}]})");
  REQUIRE(schema);
  std::uint64_t random = 88172645463325252ULL;
  std::string json;
  for (int round = 0; round < 20'000; ++round) {
    std::string value;
    const int size = round % 64;
    for (int i = 0; i < size; ++i) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      // Mostly small numbers, which mean more.
      value += static_cast<char>((random >> 60) < 12 ? (random >> 8) % 12 : random >> 16);
    }
    const Malformed reason = avro_to_json(**schema, value, json);
    CHECK((reason == Malformed::kNone || reason == Malformed::kBadAvro || reason == Malformed::kTooDeep));
  }
}

}  // namespace
}  // namespace hourfold
