#include "core/glob.h"

namespace hourfold {

Glob::Glob(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      parts_.push_back({Part::Kind::kByte, pattern[++i]});
    } else if (pattern[i] == '*') {
      parts_.push_back({Part::Kind::kAny});
    } else if (pattern[i] == '?') {
      parts_.push_back({Part::Kind::kOne});
    } else {
      parts_.push_back({Part::Kind::kByte, pattern[i]});
    }
  }
}

std::optional<std::string> Glob::literal() const {
  std::string text;
  for (const Part& part : parts_) {
    if (part.kind != Part::Kind::kByte) return std::nullopt;
    text += part.byte;
  }
  return text;
}

// Greedy, with a step back to the last *: linear in practice, quadratic at worst.
bool Glob::matches(std::string_view text) const {
  std::size_t at = 0;
  std::size_t in = 0;
  std::optional<std::size_t> star;
  std::size_t star_at = 0;
  while (at < text.size()) {
    if (in < parts_.size() && parts_[in].kind == Part::Kind::kAny) {
      star = in++;
      star_at = at;
    } else if (in < parts_.size() && (parts_[in].kind == Part::Kind::kOne || parts_[in].byte == text[at])) {
      ++in;
      ++at;
    } else if (star) {
      in = *star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (in < parts_.size() && parts_[in].kind == Part::Kind::kAny) ++in;
  return in == parts_.size();
}

}  // namespace hourfold
