// Avro: a line with a schema, which may be none, and the bytes of a value. What comes of it is JSON of a
// bounded size.
#include <nlohmann/json.hpp>

#include "payload/avro_json.h"
#include "payload/avro_schema.h"
#include "payload/json_tokens.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {

void try_input(std::string_view bytes) {
  Input input(bytes);
  const auto schema = AvroSchema::parse(input.line());
  if (!schema) {
    require(!schema.error().message.empty(), "a reason");
    return;
  }
  const Exact value(input.rest());
  std::string json;
  const Malformed outcome = avro_to_json(**schema, value.view(), json);
  std::string again;
  require(avro_to_json(**schema, value.view(), again) == outcome, "the same outcome");
  if (outcome != Malformed::kNone) return;
  require_equal(again, json, "the same text");
  require(json.size() <= (std::size_t{1} << 20) + 64 * value.view().size(), "a bounded text");
  const bool words = json.find("NaN") != std::string::npos || json.find("Infinity") != std::string::npos;
  if (words || !JsonTokens::is_utf8(json)) return;
  require(nlohmann::json::accept(json), "sound JSON", json);
}

}  // namespace hourfold::fuzz
