#include "payload/avro_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "payload/avro_decimal.h"
#include "payload/json_tokens.h"

namespace hourfold {
namespace {

using Kind = AvroSchema::Kind;

// Names and nulls take no bytes in Avro, so a small value may be a much larger text, but not without end. Six
// bytes are an escaped character.
std::size_t most_json(std::size_t value_bytes) {
  constexpr std::size_t kMiB = 1 << 20;
  return std::min(kMiB + 64 * value_bytes, 64 * kMiB + 8 * value_bytes);
}

constexpr char kHex[] = "0123456789abcdef";

class Transcoder {
 public:
  Transcoder(const AvroSchema& schema, std::string_view value, std::string& json)
      : schema_(schema), left_(value), json_(json), limit_(most_json(value.size())) {}

  Malformed run() {
    if (!write(schema_.root())) return reason_;
    return left_.empty() ? Malformed::kNone : Malformed::kBadAvro;
  }

 private:
  using Node = AvroSchema::Node;

  // False: the value is not what the schema says.
  bool write(const Node& node);
  bool write_container(const Node& node);
  bool write_record(const Node& node);
  bool write_blocks(const Node& node);
  bool write_items(const Node& node, std::int64_t count, bool& first);
  bool write_union(const Node& node);
  bool write_enum(const Node& node);
  bool write_boolean();
  bool write_int();
  bool write_long();
  template <class Float, class Bits>
  bool write_float();
  bool write_decimal(const Node& node, bool sized);
  void write_string(std::string_view text);
  void write_bytes(std::string_view bytes);
  void write_uuid(std::string_view bytes);
  void write_escaped(unsigned char c);
  template <class Number>
  void write_number(Number number) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    json_.append(text, end);
  }

  bool take(std::size_t size, std::string_view& bytes) {
    if (size > left_.size()) return false;
    bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }
  // Bytes with their length in front.
  bool take_sized(std::string_view& bytes) {
    std::int64_t size = 0;
    return take_long(size) && size >= 0 && take(static_cast<std::size_t>(size), bytes);
  }
  bool take_long(std::int64_t& out);

  const AvroSchema& schema_;
  std::string_view left_;
  std::string& json_;
  const std::size_t limit_;
  std::size_t depth_ = 0;
  Malformed reason_ = Malformed::kBadAvro;
};

bool Transcoder::take_long(std::int64_t& out) {
  std::uint64_t zigzag = 0;
  for (unsigned shift = 0, i = 0; i < left_.size() && shift < 64; shift += 7, ++i) {
    const auto byte = static_cast<unsigned char>(left_[i]);
    // Of the tenth byte there is room for one bit.
    if (shift == 63 && byte > 1) return false;
    zigzag |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte >= 0x80) continue;
    left_.remove_prefix(i + 1);
    out = static_cast<std::int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
    return true;
  }
  return false;
}

// What one value adds beyond its container's own is bounded by its bytes and by the schema, so it is enough
// to look at the size here.
bool Transcoder::write(const Node& node) {
  if (json_.size() > limit_) return false;
  std::string_view bytes;
  switch (node.kind) {
    case Kind::kNull:
      json_ += "null";
      return true;
    case Kind::kBoolean:
      return write_boolean();
    case Kind::kInt:
      return write_int();
    case Kind::kLong:
      return write_long();
    case Kind::kFloat:
      return write_float<float, std::uint32_t>();
    case Kind::kDouble:
      return write_float<double, std::uint64_t>();
    case Kind::kString:
      if (!take_sized(bytes)) return false;
      write_string(bytes);
      return true;
    case Kind::kBytes:
      if (!take_sized(bytes)) return false;
      write_bytes(bytes);
      return true;
    case Kind::kFixed:
      if (!take(node.size, bytes)) return false;
      write_bytes(bytes);
      return true;
    case Kind::kFixedUuid:
      if (!take(node.size, bytes)) return false;
      write_uuid(bytes);
      return true;
    case Kind::kDecimal:
      return write_decimal(node, true);
    case Kind::kFixedDecimal:
      return write_decimal(node, false);
    case Kind::kEnum:
      return write_enum(node);
    case Kind::kUnion:
      return write_union(node);
    case Kind::kArray:
    case Kind::kMap:
    case Kind::kRecord:
      return write_container(node);
  }
  return false;
}

bool Transcoder::write_container(const Node& node) {
  if (depth_ == kMaxDepth) {
    reason_ = Malformed::kTooDeep;
    return false;
  }
  ++depth_;
  const bool sound = node.kind == Kind::kRecord ? write_record(node) : write_blocks(node);
  --depth_;
  return sound;
}

bool Transcoder::write_record(const Node& node) {
  json_ += '{';
  for (std::uint32_t i = 0; i < node.count; ++i) {
    const AvroSchema::Field& field = schema_.field(node.first + i);
    if (i != 0) json_ += ',';
    json_ += field.prefix;
    if (!write(schema_.node(field.node))) return false;
  }
  json_ += '}';
  return true;
}

// Blocks of items, each with its count in front; a negative one is followed by the block's size in bytes. The
// last block has none.
bool Transcoder::write_blocks(const Node& node) {
  json_ += node.kind == Kind::kMap ? '{' : '[';
  bool first = true;
  for (std::int64_t count = 0;;) {
    if (!take_long(count)) return false;
    if (count == 0) break;
    if (count > 0) {
      if (!write_items(node, count, first)) return false;
      continue;
    }
    std::int64_t size = 0;
    if (count == std::numeric_limits<std::int64_t>::min() || !take_long(size) || size < 0) return false;
    const std::size_t before = left_.size();
    if (static_cast<std::uint64_t>(size) > before || !write_items(node, -count, first)) return false;
    if (before - left_.size() != static_cast<std::size_t>(size)) return false;
  }
  json_ += node.kind == Kind::kMap ? '}' : ']';
  return true;
}

bool Transcoder::write_items(const Node& node, std::int64_t count, bool& first) {
  // Only items without bytes can be more than there are bytes, and nobody means more of them than of
  // readings.
  if (static_cast<std::uint64_t>(count) > std::max(left_.size(), kMaxReadingsPerRecord)) return false;
  const Node& item = schema_.node(node.first);
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::exchange(first, false)) json_ += ',';
    if (node.kind == Kind::kMap) {
      std::string_view key;
      if (!take_sized(key)) return false;
      write_string(key);
      json_ += ':';
    }
    if (!write(item)) return false;
  }
  return true;
}

bool Transcoder::write_union(const Node& node) {
  std::int64_t branch = 0;
  if (!take_long(branch) || branch < 0 || branch >= node.count) return false;
  return write(schema_.branch(node.first + static_cast<AvroSchema::Index>(branch)));
}

bool Transcoder::write_enum(const Node& node) {
  std::int64_t symbol = 0;
  if (!take_long(symbol) || symbol < 0 || symbol >= node.count) return false;
  json_ += schema_.symbol(node.first + static_cast<AvroSchema::Index>(symbol));
  return true;
}

bool Transcoder::write_boolean() {
  std::string_view byte;
  if (!take(1, byte) || (byte.front() != '\0' && byte.front() != '\1')) return false;
  json_ += byte.front() == '\1' ? "true" : "false";
  return true;
}

bool Transcoder::write_int() {
  std::int64_t number = 0;
  if (!take_long(number) || number != static_cast<std::int32_t>(number)) return false;
  write_number(number);
  return true;
}

bool Transcoder::write_long() {
  std::int64_t number = 0;
  if (!take_long(number)) return false;
  write_number(number);
  return true;
}

template <class Float, class Bits>
bool Transcoder::write_float() {
  std::string_view bytes;
  if (!take(sizeof(Bits), bytes)) return false;
  Bits bits = 0;
  for (std::size_t i = sizeof(Bits); i-- > 0;)
    bits = static_cast<Bits>(bits << 8) | static_cast<unsigned char>(bytes[i]);
  Float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  if (std::isfinite(number)) {
    write_number(number);
  } else {
    json_ += std::isnan(number) ? "NaN" : (number > 0 ? "Infinity" : "-Infinity");
  }
  return true;
}

bool Transcoder::write_decimal(const Node& node, bool sized) {
  std::string_view bytes;
  if (!(sized ? take_sized(bytes) : take(node.size, bytes))) return false;
  if (bytes.empty() || bytes.size() > AvroSchema::kMaxDecimalBytes) return false;
  append_decimal(bytes, node.scale, json_);
  return true;
}

void Transcoder::write_escaped(unsigned char c) {
  if (c == '"' || c == '\\') {
    json_ += '\\';
    json_ += static_cast<char>(c);
  } else {
    json_ += "\\u00";
    json_ += kHex[c >> 4];
    json_ += kHex[c & 15];
  }
}

void Transcoder::write_string(std::string_view text) {
  json_ += '"';
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    json_.append(text, written, i - written);
    write_escaped(c);
    written = i + 1;
  }
  json_.append(text, written);
  json_ += '"';
}

void Transcoder::write_bytes(std::string_view bytes) {
  if (JsonTokens::is_utf8(bytes)) return write_string(bytes);
  json_ += '"';
  for (const char byte : bytes) {
    const auto c = static_cast<unsigned char>(byte);
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
      json_ += byte;
    } else {
      write_escaped(c);
    }
  }
  json_ += '"';
}

void Transcoder::write_uuid(std::string_view bytes) {
  json_ += '"';
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) json_ += '-';
    const auto c = static_cast<unsigned char>(bytes[i]);
    json_ += kHex[c >> 4];
    json_ += kHex[c & 15];
  }
  json_ += '"';
}

}  // namespace

Malformed avro_to_json(const AvroSchema& schema, std::string_view value, std::string& json) {
  json.clear();
  return Transcoder(schema, value, json).run();
}

}  // namespace hourfold
