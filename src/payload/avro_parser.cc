#include "payload/avro_parser.h"

#include <utility>

#include "payload/avro_json.h"
#include "payload/framed_parser.h"
#include "payload/record_text.h"

namespace hourfold {
namespace {

// A text larger than this is not kept for the next record.
constexpr std::size_t kKeptBytes = 4 << 20;

}  // namespace

AvroParser::AvroParser(const ReadingShape& shape, AvroSchemas& schemas, std::unique_ptr<PayloadParser> inner)
    : framed_(shape.framing == ValueFraming::kConfluent), schemas_(schemas), inner_(std::move(inner)) {}

const ParsedRecord& AvroParser::parse(const RecordView& record) {
  if (json_.capacity() > kKeptBytes) json_ = {};
  if (const Malformed reason = transcode(record.value); reason != Malformed::kNone) {
    fail_record(failed_, reason);
    return failed_;
  }
  RecordView inside = record;
  inside.value = json_;
  return inner_->parse(inside);
}

Malformed AvroParser::transcode(std::string_view value) {
  if (value.empty()) return Malformed::kEmptyValue;
  std::optional<std::int32_t> id;
  if (framed_) {
    id = take_schema_id(value);
    if (!id) return Malformed::kNoFraming;
  }
  const AvroSchema* const schema = schema_of(id);
  if (schema == nullptr) return Malformed::kUnknownSchema;
  const Malformed reason = avro_to_json(*schema, value, json_);
  if (reason == Malformed::kNone || framed_) return reason;
  const Malformed foreign = foreign_format(value);
  return foreign == Malformed::kNone ? reason : foreign;
}

const AvroSchema* AvroParser::schema_of(std::optional<std::int32_t> id) {
  if (last_ != nullptr && id == last_id_) return last_.get();
  std::shared_ptr<const AvroSchema> found;
  if (const auto at = id ? known_.find(*id) : known_.end(); at != known_.end()) {
    found = at->second;
  } else {
    found = schemas_.find(id);
    if (found == nullptr) return nullptr;
    if (id) known_.emplace(*id, found);
  }
  last_ = std::move(found);
  last_id_ = id;
  return last_.get();
}

}  // namespace hourfold
