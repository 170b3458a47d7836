#include "core/field_source.h"

#include "core/check.h"

namespace hourfold {
namespace {

constexpr std::string_view kEnvelope = "envelope:";
constexpr std::string_view kHeader = "header:";
constexpr std::string_view kTag = "tag:";

std::optional<FieldSource> parse(std::string_view text) {
  using Kind = FieldSource::Kind;
  const auto behind = [text](std::string_view prefix) { return std::string(text.substr(prefix.size())); };
  if (text == "key") return FieldSource{Kind::kKey, {}};
  if (text == "record") return FieldSource{Kind::kRecordTime, {}};
  if (text == "measurement") return FieldSource{Kind::kMeasurement, {}};
  if (text == "name") return FieldSource{Kind::kName, {}};
  if (text.starts_with(kHeader) && text != kHeader) return FieldSource{Kind::kHeader, behind(kHeader)};
  if (text.starts_with(kTag) && text != kTag) return FieldSource{Kind::kTag, behind(kTag)};
  if (text.starts_with(kEnvelope) && text.substr(kEnvelope.size()).size() > 1 &&
      text[kEnvelope.size()] == '/' && is_pointer(text.substr(kEnvelope.size())))
    return FieldSource{Kind::kEnvelope, behind(kEnvelope)};
  if (text.size() > 1 && text.starts_with('/') && is_pointer(text))
    return FieldSource{Kind::kPointer, std::string(text)};
  return std::nullopt;
}

}  // namespace

FieldSource field_source(std::string_view text) {
  auto source = parse(text);
  HF_CHECK(source.has_value());
  return *source;
}

bool is_field_source(std::string_view text) { return parse(text).has_value(); }

bool is_pointer(std::string_view text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) return false;
  }
  return true;
}

std::vector<std::string> pointer_names(std::string_view pointer) {
  HF_CHECK(is_pointer(pointer));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      names.emplace_back();
    } else if (pointer[i] == '~') {
      names.back() += pointer[++i] == '0' ? '~' : '/';
    } else {
      names.back() += pointer[i];
    }
  }
  return names;
}

}  // namespace hourfold
