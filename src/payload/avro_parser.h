// Avro values, by the one schema of the topic or the one whose id is in front (payload/framed_parser.h): each
// becomes JSON (payload/avro_json.h), which another parser reads.
//
// Threads, ownership, errors: as PayloadParser.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "payload/avro_schemas.h"
#include "payload/payload_parser.h"

namespace hourfold {

class AvroParser final : public PayloadParser {
 public:
  // schemas outlives it. inner reads the JSON.
  AvroParser(const ReadingShape& shape, AvroSchemas& schemas, std::unique_ptr<PayloadParser> inner);

  const ParsedRecord& parse(const RecordView& record) override;

 private:
  Malformed transcode(std::string_view value);
  const AvroSchema* schema_of(std::optional<std::int32_t> id);

  const bool framed_;
  AvroSchemas& schemas_;
  std::unique_ptr<PayloadParser> inner_;
  // Schemas never change, so those that were found are kept here, without the lock that others may take.
  std::unordered_map<std::int32_t, std::shared_ptr<const AvroSchema>> known_;
  std::shared_ptr<const AvroSchema> last_;
  std::optional<std::int32_t> last_id_;
  std::string json_;
  ParsedRecord failed_;
};

}  // namespace hourfold
