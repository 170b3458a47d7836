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

inline constexpr std::size_t kFramingBytes = 5;

// The id, if the value has the framing.
inline std::optional<std::int32_t> framed_schema_id(std::string_view value) {
  if (value.size() < kFramingBytes || value.front() != '\0') return std::nullopt;
  std::uint32_t id = 0;
  for (std::size_t i = 1; i < kFramingBytes; ++i) id = id << 8 | static_cast<unsigned char>(value[i]);
  return static_cast<std::int32_t>(id);
}

class FramedParser final : public PayloadParser {
 public:
  explicit FramedParser(std::unique_ptr<PayloadParser> inner) : inner_(std::move(inner)) {}

  const ParsedRecord& parse(const RecordView& record) override {
    if (!framed_schema_id(record.value)) {
      fail_record(unframed_, record.value.empty() ? Malformed::kEmptyValue : Malformed::kNoFraming);
      return unframed_;
    }
    RecordView inside = record;
    inside.value.remove_prefix(kFramingBytes);
    return inner_->parse(inside);
  }

 private:
  std::unique_ptr<PayloadParser> inner_;
  ParsedRecord unframed_;
};

}  // namespace hourfold
