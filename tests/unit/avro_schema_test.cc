#include "payload/avro_schema.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hourfold {
namespace {

std::string record_of(const std::string& fields) {
  return R"({"type":"record","name":"R","fields":[)" + fields + "]}";
}

TEST_CASE("avro schema: sound ones") {
  const std::vector<std::string> schemas = {
      R"("long")",
      R"({"type":"long"})",
      R"({"type":"long","logicalType":"timestamp-millis"})",
      R"({"type":{"type":"string","avro.java.string":"String"}})",
      R"(["null","double"])",
      R"({"type":"array","items":"null"})",
      R"({"type":"map","values":["null",{"type":"array","items":"int"}]})",
      R"({"type":"enum","name":"E","symbols":["A","B"]})",
      R"({"type":"fixed","name":"F","size":0})",
      R"({"type":"record","name":"R","fields":[]})",
      R"({"type":"record","name":"a.b.R","doc":"x","aliases":["S"],"fields":[{"name":"x","type":"int","default":1}]})",
      // References: by the namespace around, by the full name, to itself, and from the namespace to none.
      R"({"type":"record","name":"R","namespace":"a","fields":[{"name":"next","type":["null","R"]}]})",
      R"({"type":"record","name":"R","namespace":"a","fields":[{"name":"next","type":["null","a.R"]}]})",
      record_of(
          R"({"name":"e","type":{"type":"enum","name":"x.E","symbols":["A"]}},{"name":"f","type":"x.E"})"),
      record_of(
          R"({"name":"i","type":{"type":"record","name":"x.I","fields":[{"name":"f","type":{"type":"fixed","name":"F","size":2}},{"name":"g","type":"F"},{"name":"h","type":"x.F"}]}})"),
      R"(["null",{"type":"fixed","name":"F","size":2},{"type":"record","name":"x.R","fields":[{"name":"f","type":"F"}]}])",
      // Of one name in two namespaces.
      record_of(
          R"({"name":"i","type":{"type":"fixed","name":"F","size":1}},{"name":"j","type":{"type":"fixed","name":"y.F","size":2}})"),
  };
  for (const std::string& text : schemas) {
    CAPTURE(text);
    const auto schema = AvroSchema::parse(text);
    CHECK_MESSAGE(static_cast<bool>(schema), (schema ? std::string() : schema.error().message));
  }
}

TEST_CASE("avro schema: what is refused, and how") {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"", "it is no JSON"},
      {"long", "it is no JSON"},
      {"42", "a type is a name, an object or a list, not 42"},
      {"{}", "a type without \"type\""},
      {R"("flaot")", "\"flaot\" is no type, and none of that name is defined before"},
      {"[]", "a union without a branch"},
      {R"(["null",["int"]])", "a union directly inside of a union"},
      {R"({"type":"array"})", "an array without \"items\""},
      {R"({"type":"map"})", "a map without \"values\""},
      {R"({"type":"record","fields":[]})", "a type \"record\" without a name"},
      {R"({"type":"record","name":"R"})", "record R: a record without a list of \"fields\""},
      {R"({"type":"record","name":"long","fields":[]})", "\"long\" is the name of a type of Avro itself"},
      {record_of(R"({"type":"int"})"), "record R: a field without a name"},
      {record_of(R"({"name":"a"})"), "record R, field a: it has no \"type\""},
      {record_of(R"({"name":"a","type":"flaot"})"),
       "record R, field a: \"flaot\" is no type, and none of that name is defined before"},
      {record_of(R"({"name":"a","type":"int"},{"name":"a","type":"int"})"),
       "record R, field a: there are two of that name"},
      {record_of(R"({"name":"a","type":{"type":"fixed","name":"R","size":1}})"),
       "record R, field a: \"R\" is defined twice"},
      {record_of(R"({"name":"a","type":{"type":"fixed","name":"x.F","size":1}},{"name":"b","type":"F"})"),
       "record R, field b: \"F\" is no type, and none of that name is defined before"},
      {R"({"type":"enum","name":"E"})", "enum E: it has no \"symbols\""},
      {R"({"type":"enum","name":"E","symbols":["A","A"]})", "enum E: two symbols \"A\""},
      {R"({"type":"enum","name":"E","symbols":[1]})", "enum E: a symbol that is no text"},
      {R"({"type":"fixed","name":"F","size":-1})", "fixed F: its \"size\" is no whole number of bytes"},
      {R"({"type":"fixed","name":"F"})", "fixed F: its \"size\" is no whole number of bytes"},
      {R"({"type":"object","properties":{}})",
       "\"object\" is no type, and none of that name is defined before"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.text);
    const auto schema = AvroSchema::parse(one.text);
    REQUIRE_FALSE(schema);
    CHECK(schema.error().kind == ErrorKind::kRefused);
    CHECK(schema.error().message == one.message);
  }
}

TEST_CASE("avro schema: bounds") {
  const auto nested = [](std::size_t levels) {
    std::string text;
    for (std::size_t i = 0; i < levels; ++i) text += R"({"type":"array","items":)";
    return AvroSchema::parse(text + R"("int")" + std::string(levels, '}'));
  };
  CHECK(nested(AvroSchema::kMaxNesting - 1));
  REQUIRE_FALSE(nested(AvroSchema::kMaxNesting));
  CHECK(nested(100'000).error().message == "the schema is nested too deep");

  std::string branches = R"("int")";
  for (std::size_t i = 0; i < AvroSchema::kMaxNodes; ++i) branches += R"(,"int")";
  const auto large = AvroSchema::parse("[" + branches + "]");
  REQUIRE_FALSE(large);
  CHECK(large.error().message == "the schema has too many types");
}

}  // namespace
}  // namespace hourfold
