#include "payload/avro_schemas.h"

#include <utility>

namespace hourfold {

Result<void> FixedAvroSchemas::add(std::optional<std::int32_t> id, const std::string& key,
                                   const std::string& text) {
  auto schema = AvroSchema::parse(text);
  if (!schema) return refused(key + ": is no Avro schema: " + schema.error().message);
  schemas_[id] = std::move(*schema);
  return {};
}

Result<std::unique_ptr<AvroSchemas>> FixedAvroSchemas::parse(const ReadingShape& shape) {
  auto made = std::make_unique<FixedAvroSchemas>();
  if (!shape.schema.empty()) {
    if (auto added = made->add(std::nullopt, "reading.schema", shape.schema); !added) return added.error();
  }
  for (const auto& [id, text] : shape.schemas) {
    if (auto added = made->add(id, "reading.schemas." + std::to_string(id), text); !added)
      return added.error();
  }
  return std::unique_ptr<AvroSchemas>(std::move(made));
}

}  // namespace hourfold
