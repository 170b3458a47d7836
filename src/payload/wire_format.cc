#include "payload/wire_format.h"

#include <optional>

namespace hourfold {
namespace {

constexpr unsigned kVarint = 0;
constexpr unsigned kEightBytes = 1;
constexpr unsigned kDelimited = 2;
constexpr unsigned kFourBytes = 5;

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  constexpr unsigned kMostBits = 63;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift <= kMostBits && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

bool take_value(std::string_view& bytes, WireField& field) {
  std::uint64_t size = 0;
  if (field.type == kVarint || field.type == kDelimited) {
    const auto value = take_varint(bytes);
    if (!value) return false;
    if (field.type == kVarint) {
      field.varint = *value;
      return true;
    }
    size = *value;
  } else if (field.type == kEightBytes) {
    size = 8;
  } else if (field.type == kFourBytes) {
    size = 4;
  } else {
    return false;
  }
  if (size > bytes.size()) return false;
  bytes.remove_prefix(size);
  return true;
}

}  // namespace

std::vector<WireField> wire_fields(std::string_view bytes) {
  constexpr std::uint64_t kMostNumber = 4096;  // Larger ones are rare; rubbish has them often.
  std::vector<WireField> fields;
  while (!bytes.empty()) {
    const auto tag = take_varint(bytes);
    if (!tag) return {};
    WireField field{*tag >> 3, static_cast<unsigned>(*tag & 7)};
    if (field.number == 0 || field.number > kMostNumber || !take_value(bytes, field)) return {};
    fields.push_back(field);
  }
  return fields;
}

bool is_framed_protobuf(std::string_view bytes) {
  const auto count = take_varint(bytes);
  constexpr std::uint64_t kMostIndexes = 16;
  if (!count || *count > kMostIndexes) return false;
  for (std::uint64_t i = 0; i < *count; ++i) {
    if (!take_varint(bytes)) return false;
  }
  return !wire_fields(bytes).empty();
}

}  // namespace hourfold
