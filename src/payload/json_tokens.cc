#include "payload/json_tokens.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/check.h"
#include "payload/json_number.h"
#include "payload/json_string.h"

namespace hourfold {
namespace {

bool contains(std::string_view text, char byte) {
  return std::memchr(text.data(), byte, text.size()) != nullptr;
}

}  // namespace

class JsonTokens::Stage {
 public:
  std::unique_ptr<simdjson::internal::dom_parser_implementation> simd;
};

JsonTokens::JsonTokens(Arena& arena) : arena_(arena), stage_(std::make_unique<Stage>()) {}
JsonTokens::~JsonTokens() = default;

void JsonTokens::reserve(std::size_t text_size) {
  if (text_size <= capacity_) return;
  capacity_ = std::max(text_size, 2 * capacity_);
  constexpr std::size_t kUnusedDepth = 1;  // only the second stage keeps a stack
  HF_CHECK(simdjson::get_active_implementation()->create_dom_parser_implementation(
               capacity_, kUnusedDepth, stage_->simd) == simdjson::SUCCESS);
}

bool JsonTokens::is_utf8(std::string_view text) { return simdjson::validate_utf8(text); }

bool JsonTokens::tokenize(std::string_view text) {
  if (text.size() > capacity_) reserve(text.size());
  auto& simd = *stage_->simd;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (simd.stage1(bytes, text.size(), simdjson::stage1_mode::regular) != simdjson::SUCCESS) return false;
  text_ = text.data();
  size_ = simd.n_structural_indexes;
  starts_ = simd.structural_indexes.get();
  HF_CHECK(starts_[size_] == text.size());
  plain_ = !contains(text, '\\') && !contains(text, '\x7f');
  return true;
}

bool JsonTokens::unescape(std::string_view& text) {
  if (!contains(text, '\\')) return true;
  char* const out = arena_.allocate(text.size());
  const auto length = unescape_json(text, out);
  if (length) text = {out, *length};
  return length.has_value();
}

bool JsonTokens::is_sound_slowly(Index i) {
  std::string_view text;
  switch (first(i)) {
    case '"':
      return string(i, text);
    case 't':
      return bytes(i) == "true";
    case 'f':
      return bytes(i) == "false";
    case 'n':
      return bytes(i) == "null";
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return is_json_number(bytes(i)) || (non_finite_ && bytes(i) == "-Infinity");
    case 'N':
      return non_finite_ && bytes(i) == "NaN";
    case 'I':
      return non_finite_ && bytes(i) == "Infinity";
    default:
      return false;
  }
}

// From the beginning of a value to behind its first scalar or empty container; the brackets before that are
// left open.
JsonTokens::Index JsonTokens::skip_opening(Index i) {
  for (;;) {
    const char bracket = first(i);
    if (bracket != '{' && bracket != '[') return is_sound_scalar(i) ? i + 1 : kBroken;
    ++i;
    open_.push_back(bracket);
    if (first(i) == bracket + 2) return i;  // '{' + 2 is '}', '[' + 2 is ']'
    if (bracket == '[') continue;
    std::string_view unused;
    if (!name(i, unused)) return kBroken;
    i += 2;
  }
}

// From behind a value, over all brackets that close there, to where the next value begins or to behind the
// last bracket.
JsonTokens::Index JsonTokens::skip_closing(Index i) {
  for (; !open_.empty() && first(i) == open_.back() + 2; ++i) open_.pop_back();
  if (open_.empty()) return i;
  if (first(i) != ',') return kBroken;
  ++i;
  if (open_.back() == '[') return i;
  std::string_view unused;
  return name(i, unused) ? i + 2 : kBroken;
}

JsonTokens::Skipped JsonTokens::skip_container(Index i) {
  open_.clear();
  std::size_t depth = 0;
  do {
    i = skip_opening(i);
    if (i == kBroken) return {kBroken, 0};
    depth = std::max(depth, open_.size());
    i = skip_closing(i);
    if (i == kBroken) return {kBroken, 0};
  } while (!open_.empty());
  return {i, depth};
}

}  // namespace hourfold
