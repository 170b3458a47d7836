#include "app/device_filter.h"

#include <algorithm>

namespace hourfold {

DeviceFilter::DeviceFilter(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i + 1 < text.size() && text[i] == '\\') {
      ++i;
    } else if (i == text.size() || text[i] == ',') {
      if (i > begin) patterns_.emplace_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
}

bool DeviceFilter::takes(std::string_view device) const {
  return patterns_.empty() ||
         std::ranges::any_of(patterns_, [&](const Glob& pattern) { return pattern.matches(device); });
}

std::vector<std::string> DeviceFilter::names() const {
  std::vector<std::string> names;
  for (const Glob& pattern : patterns_) {
    const auto name = pattern.literal();
    if (!name) return {};
    names.push_back(*name);
  }
  return names;
}

}  // namespace hourfold
