#include "payload/sample_outline.h"

#include <algorithm>

#include "payload/field_words.h"

namespace hourfold {
namespace {

constexpr std::size_t kDeepest = 8;
constexpr std::size_t kMostFields = 512;
constexpr std::size_t kMostValues = 64;

}  // namespace

std::string escaped_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '~' || c == '/') {
      out += c == '~' ? "~0" : "~1";
    } else {
      out += c;
    }
  }
  return out;
}

SampleOutline::SampleOutline(const std::vector<const SampleJson*>& objects, const std::string* without)
    : without_(without), objects_(objects.size()) {
  for (const SampleJson* object : objects) add_members(*object, "", 1);
}

void SampleOutline::add_members(const SampleJson& object, const std::string& pointer, std::size_t depth) {
  if (!object.is_object() || depth > kDeepest) return;
  for (const auto& member : object.items())
    add(member.value(), member.key(), pointer + "/" + escaped_name(member.key()), depth);
}

void SampleOutline::add(const SampleJson& value, const std::string& name, const std::string& pointer,
                        std::size_t depth) {
  if (without_ != nullptr && pointer == *without_) return;
  auto field = std::find_if(fields_.begin(), fields_.end(),
                            [&pointer](const OutlineField& known) { return known.pointer == pointer; });
  if (field == fields_.end()) {
    if (fields_.size() >= kMostFields) return;
    fields_.push_back({pointer, name, plain_word(name), depth, {}});
    field = fields_.end() - 1;
  }
  if (field->values.size() < kMostValues) field->values.push_back(&value);
  add_members(value, pointer, depth + 1);
}

}  // namespace hourfold
