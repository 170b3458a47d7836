#include "payload/sample_kind.h"

#include <algorithm>
#include <array>

#include "payload/base64.h"
#include "payload/framed_parser.h"
#include "payload/json_tokens.h"
#include "payload/plausible_time.h"
#include "payload/record_text.h"
#include "payload/wire_format.h"

namespace hourfold {
namespace {

using namespace std::string_view_literals;

const std::string kBridge =
    "Without its descriptor a field is only a number. Let the bridge or the producer write JSON, or Avro "
    "with "
    "a schema registry.";
const std::string kJsonInstead =
    "Hourfold reads JSON, Avro, SenML and line protocol: let the producer write JSON.";

unsigned byte_at(std::string_view value, std::size_t i) {
  return i < value.size() ? static_cast<unsigned char>(value[i]) : 0U;
}

struct Signature {
  std::string_view bytes;
  const char* name;
};

std::optional<ForeignSample> compressed(std::string_view value) {
  static constexpr std::array kSignatures = {
      Signature{"\x1f\x8b"sv, "gzip"},         Signature{"\x28\xb5\x2f\xfd"sv, "zstd"},
      Signature{"\x04\x22\x4d\x18"sv, "LZ4"},  Signature{"\xff\x06\x00\x00sNaPpY"sv, "Snappy"},
      Signature{"\x82SNAPPY\x00"sv, "Snappy"}, Signature{"BZh91AY&SY"sv, "bzip2"},
      Signature{"\x78\x9c"sv, "zlib"},         Signature{"\x78\xda"sv, "zlib"},
      Signature{"PK\x03\x04"sv, "zip"},
  };
  for (const Signature& signature : kSignatures) {
    if (!value.starts_with(signature.bytes)) continue;
    return ForeignSample{"a value compressed with " + std::string(signature.name),
                         "Values are not decompressed. Let the producer send them as they are and set its "
                         "compression.type (zstd, lz4, snappy or gzip): then Kafka compresses whole batches, "
                         "better, and every client undoes it by itself."};
  }
  return std::nullopt;
}

bool is_utf16(std::string_view value) {
  if (value.starts_with("\xff\xfe") || value.starts_with("\xfe\xff")) return true;
  const bool small_end = value.starts_with("{\0"sv) || value.starts_with("[\0"sv);
  return small_end || value.starts_with("\0{"sv) || value.starts_with("\0["sv);
}

// MessagePack: a map of which the first key is a text, or an array of such maps. (msgpack.org, spec.md)
bool is_messagepack(std::string_view value) {
  std::size_t at = 0;
  if ((byte_at(value, 0) & 0xf0U) == 0x90) at = 1;
  if (byte_at(value, 0) == 0xdc) at = 3;
  const unsigned map = byte_at(value, at);
  if ((map & 0xf0U) == 0x80 && map != 0x80) {
    at += 1;
  } else if (map == 0xde) {
    at += 3;
  } else if (map == 0xdf) {
    at += 5;
  } else {
    return false;
  }
  const unsigned key = byte_at(value, at);
  const std::size_t size = key & 0x1fU;
  return ((key & 0xe0U) == 0xa0 && size > 0 && at + size < value.size()) || key == 0xd9;
}

// CBOR: a map of which the first key is a text. (RFC 8949)
bool is_cbor(std::string_view value) {
  if (value.starts_with("\xd9\xd9\xf7")) return true;
  const unsigned map = byte_at(value, 0);
  const unsigned key = byte_at(value, 1);
  const std::size_t size = key & 0x1fU;
  return ((map > 0xa0 && map < 0xb8) || map == 0xbf) && key > 0x60 && key < 0x78 && 1 + size < value.size();
}

bool is_sparkplug(const std::vector<WireField>& fields) {
  return fields.size() > 1 && fields[0].number == 1 && fields[0].type == 0 &&
         plausible_unit(static_cast<double>(fields[0].varint)) == TimeUnit::kMs && fields[1].number == 2 &&
         fields[1].type == 2;
}

std::optional<ForeignSample> protobuf(std::string_view value) {
  const std::vector<WireField> fields = wire_fields(value);
  if (is_sparkplug(fields))
    return ForeignSample{"a Sparkplug B payload (Protobuf)",
                         "Its metrics have their names in the birth message alone, so that a record says "
                         "nothing by itself. Let "
                         "the bridge from MQTT to Kafka decode Sparkplug B and write JSON."};
  if (fields.size() > 1) return ForeignSample{"what could be a bare Protobuf message", kBridge};
  return std::nullopt;
}

std::optional<ForeignSample> binary(std::string_view value) {
  if (is_utf16(value))
    return ForeignSample{
        "text in UTF-16",
        "JSON is UTF-8 (RFC 8259). Let the producer encode its text as UTF-8; in .NET that is "
        "Encoding.UTF8 instead of Encoding.Unicode."};
  if (value.starts_with("Obj\x01"))
    return ForeignSample{
        "an Avro file with its header",
        "One record of a topic is a bare value: let the producer write the datum alone, with "
        "a schema registry's framing (\"format\": \"avro\", \"framing\": \"confluent\")."};
  if (framed_schema_id(value)) {
    const std::string_view inside = value.substr(kFramingBytes);
    if (inside.empty() || inside.front() == '{' || inside.front() == '[' || inside.front() == '"')
      return std::nullopt;
    if (is_framed_protobuf(inside))
      return ForeignSample{
          "Protobuf of a schema registry, schema " + std::to_string(*framed_schema_id(value)), kBridge};
    return std::nullopt;
  }
  if (auto found = protobuf(value)) return found;
  if (is_messagepack(value)) return ForeignSample{"MessagePack", kJsonInstead};
  if (is_cbor(value)) return ForeignSample{"CBOR", kJsonInstead};
  return ForeignSample{"binary data of a kind that is not recognised", kJsonInstead};
}

// Columns by the same separator in every line.
bool is_csv(std::string_view text) {
  for (const char separator : {',', ';', '\t'}) {
    std::size_t lines = 0;
    std::ptrdiff_t columns = -1;
    bool same = true;
    for (std::string_view rest = text, line = next_line(rest); !line.empty(); line = next_line(rest)) {
      const auto count = std::count(line.begin(), line.end(), separator);
      same &= columns < 0 || count == columns;
      columns = count;
      ++lines;
    }
    if (same && columns > 0 && (lines > 1 || columns > 1)) return true;
  }
  return false;
}

bool is_hex(std::string_view text) {
  return text.size() >= 8 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || is_filler(c);
         });
}

std::optional<ForeignSample> text_of_another_kind(std::string_view text) {
  std::string decoded;
  if (text.front() == '<')
    return ForeignSample{text.starts_with("<!DOCTYPE html") || text.starts_with("<html") ? "HTML" : "XML",
                         kJsonInstead};
  if (text.front() == '{' || text.front() == '[' || text.front() == '"') return std::nullopt;
  if (is_hex(text) && text.find_first_not_of("0123456789") != std::string_view::npos)
    return ForeignSample{"text of hexadecimal digits",
                         "If these are the record's bytes, add --hex. If the record itself is this text, let "
                         "the producer write what it stands for."};
  if (text.size() >= 8 && text.find_first_of(" ,") == std::string_view::npos &&
      decode_base64(text, decoded) && decoded.find_first_of("{[") == 0)
    return ForeignSample{
        "JSON in bare base64",
        "Base64 is read inside of a JSON document (reading.body), not bare. Let the producer "
        "write the JSON itself."};
  if (text.find('=') == std::string_view::npos && is_csv(text))
    return ForeignSample{"CSV",
                         "A row says nothing of its columns. Let the producer write JSON with names, a "
                         "record for each row."};
  return std::nullopt;
}

bool is_text(std::string_view value) {
  return JsonTokens::is_utf8(value) && std::none_of(value.begin(), value.end(), [](char c) {
           return c == '\0' || (static_cast<unsigned char>(c) < 0x20 && !is_filler(c));
         });
}

}  // namespace

std::optional<ForeignSample> foreign_sample(std::string_view value) {
  if (value.empty())
    return ForeignSample{"empty",
                         "A record without bytes is malformed. (A tombstone, which has no value at all, is "
                         "skipped.)"};
  if (auto found = compressed(value)) return found;
  const std::string_view text = trim_record(value);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    return ForeignSample{"nothing but white space", "There is no reading in it."};
  if (is_text(text)) return text_of_another_kind(text.substr(first));
  // JSON with a broken byte is broken JSON, not another format.
  const bool looks_like_json = text[first] == '{' || text[first] == '[';
  if (looks_like_json && !is_utf16(value)) return std::nullopt;
  return binary(value);
}

}  // namespace hourfold
