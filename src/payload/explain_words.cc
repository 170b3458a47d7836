#include "payload/explain_words.h"

#include "core/field_source.h"

namespace hourfold {

std::string place_of(const std::string& source) {
  const FieldSource parsed = field_source(source);
  switch (parsed.kind) {
    case FieldSource::Kind::kPointer:
      return "at " + parsed.name;
    case FieldSource::Kind::kEnvelope:
      return "at " + parsed.name + " of the document around";
    case FieldSource::Kind::kKey:
      return "in the record's key";
    case FieldSource::Kind::kHeader:
      return "in the record's header " + parsed.name;
    case FieldSource::Kind::kRecordTime:
      return "in the record's timestamp";
    case FieldSource::Kind::kTag:
      return "in the tag " + parsed.name;
    case FieldSource::Kind::kMeasurement:
      return "in the measurement";
    case FieldSource::Kind::kName:
      return "in the payload's own names";
  }
  return source;
}

std::string shown(const SampleJson& value) {
  constexpr std::size_t kMost = 48;
  if (value.is_object()) return value.empty() ? "an empty object" : "an object";
  if (value.is_array()) return value.empty() ? "an empty list" : "a list";
  std::string text = value.dump(-1, ' ', false, SampleJson::error_handler_t::replace);
  if (text.size() <= kMost) return text;
  std::size_t cut = kMost;
  while (cut > 0 && (text[cut] & 0xc0) == 0x80) --cut;
  return text.substr(0, cut) + (value.is_string() ? "…\"" : "…");
}

std::string members_of(const SampleJson& object) {
  constexpr std::size_t kMost = 12;
  constexpr std::size_t kMostInside = 5;
  std::string out;
  std::size_t count = 0;
  for (const auto& member : object.items()) {
    if (++count > kMost) return out + ", …";
    out += (out.empty() ? "" : ", ") + member.key();
    if (member.value().is_array()) out += "[]";
    if (!member.value().is_object()) continue;
    std::string inside;
    std::size_t inner = 0;
    for (const auto& below : member.value().items()) {
      if (++inner > kMostInside) continue;
      inside += (inside.empty() ? "" : ", ") + below.key();
    }
    out += "{" + inside + (inner > kMostInside ? ", …}" : "}");
  }
  return out;
}

std::string setting(const std::string& key, const std::string& value) {
  return SampleJson(key).dump() + ": " +
         SampleJson(value).dump(-1, ' ', false, SampleJson::error_handler_t::replace);
}

const SampleJson* value_at(const SampleReading& reading, const std::string& source) {
  const FieldSource parsed = field_source(source);
  if (parsed.kind == FieldSource::Kind::kPointer) return at_pointer(reading.element, parsed.name);
  if (parsed.kind == FieldSource::Kind::kEnvelope) return at_pointer(reading.around, parsed.name);
  return nullptr;
}

}  // namespace hourfold
