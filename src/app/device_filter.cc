#include "app/device_filter.h"

#include <algorithm>
#include <optional>

namespace hourfold {

DeviceFilter::DeviceFilter(std::string_view text) {
  Pattern pattern;
  const auto end_pattern = [&] {
    if (!pattern.empty()) patterns_.push_back(std::move(pattern));
    pattern.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      pattern.push_back({Part::Kind::kByte, text[++i]});
    } else if (text[i] == ',') {
      end_pattern();
    } else if (text[i] == '*') {
      pattern.push_back({Part::Kind::kAny});
    } else if (text[i] == '?') {
      pattern.push_back({Part::Kind::kOne});
    } else {
      pattern.push_back({Part::Kind::kByte, text[i]});
    }
  }
  end_pattern();
}

bool DeviceFilter::takes(std::string_view device) const {
  return patterns_.empty() ||
         std::ranges::any_of(patterns_, [&](const Pattern& pattern) { return matches(pattern, device); });
}

std::vector<std::string> DeviceFilter::names() const {
  std::vector<std::string> names;
  for (const Pattern& pattern : patterns_) {
    std::string& name = names.emplace_back();
    for (const Part& part : pattern) {
      if (part.kind != Part::Kind::kByte) return {};
      name += part.byte;
    }
  }
  return names;
}

// Greedy, with a step back to the last *: linear in practice, quadratic at worst.
bool DeviceFilter::matches(const Pattern& pattern, std::string_view device) {
  std::size_t at = 0;
  std::size_t in = 0;
  std::optional<std::size_t> star;
  std::size_t star_at = 0;
  while (at < device.size()) {
    if (in < pattern.size() && pattern[in].kind == Part::Kind::kAny) {
      star = in++;
      star_at = at;
    } else if (in < pattern.size() &&
               (pattern[in].kind == Part::Kind::kOne || pattern[in].byte == device[at])) {
      ++in;
      ++at;
    } else if (star) {
      in = *star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && pattern[in].kind == Part::Kind::kAny) ++in;
  return in == pattern.size();
}

}  // namespace hourfold
