#include "payload/avro_sample.h"

#include <string>
#include <string_view>
#include <utility>

#include "payload/avro_json.h"
#include "payload/framed_parser.h"

namespace hourfold {

std::optional<RecordCopy> avro_sample_as_json(const RecordCopy& record, const ReadingShape& shape,
                                              AvroSchemas& schemas) {
  if (!record.value) return std::nullopt;
  std::string_view value = *record.value;
  std::optional<std::int32_t> id;
  if (shape.framing == ValueFraming::kConfluent) {
    id = take_schema_id(value);
    if (!id) return std::nullopt;
  }
  const auto schema = schemas.find(id);
  std::string json;
  if (!schema || avro_to_json(*schema, value, json) != Malformed::kNone) return std::nullopt;
  RecordCopy copy = record;
  copy.value = std::move(json);
  return copy;
}

ReadingShape json_shape_of(ReadingShape avro) { return avro_shape_of(std::move(avro), ReadingShape()); }

ReadingShape avro_shape_of(ReadingShape json, const ReadingShape& avro) {
  json.format = avro.format;
  json.framing = avro.framing;
  json.schema = avro.schema;
  json.schemas = avro.schemas;
  json.schema_registry = avro.schema_registry;
  return json;
}

}  // namespace hourfold
