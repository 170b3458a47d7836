// Values with the framing of Confluent's schema registry: a zero byte, the schema's id as four big-endian
// bytes, and the value itself. For formats that need no schema the id has no meaning.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "payload/payload_parser.h"
#include "payload/record_text.h"

namespace hourfold {

// The id, if the value has the framing.
inline std::optional<std::int32_t> framed_schema_id(std::string_view value) {
  if (value.size() < kFramingBytes || value.front() != '\0') return std::nullopt;
  std::uint32_t id = 0;
  for (std::size_t i = 1; i < kFramingBytes; ++i) id = id << 8 | static_cast<unsigned char>(value[i]);
  return static_cast<std::int32_t>(id);
}

// The same, and takes the framing off the front.
inline std::optional<std::int32_t> take_schema_id(std::string_view& value) {
  const auto id = framed_schema_id(value);
  if (id) value.remove_prefix(kFramingBytes);
  return id;
}

class FramedParser final : public PayloadParser {
 public:
  explicit FramedParser(std::unique_ptr<PayloadParser> inner) : inner_(std::move(inner)) {}

  const ParsedRecord& parse(const RecordView& record) override {
    RecordView inside = record;
    if (!take_schema_id(inside.value)) {
      fail_record(unframed_, record.value.empty() ? Malformed::kEmptyValue : Malformed::kNoFraming);
      return unframed_;
    }
    return inner_->parse(inside);
  }

 private:
  std::unique_ptr<PayloadParser> inner_;
  ParsedRecord unframed_;
};

}  // namespace hourfold
