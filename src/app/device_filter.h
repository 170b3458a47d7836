// Which devices a command is about: names and patterns, separated by commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hourfold {

class DeviceFilter {
 public:
  // "dev-1,dev-2", "site-a-*,site-b-??"; * is any text, ? one byte, and a backslash takes the next byte as it
  // is. Empty: every device.
  explicit DeviceFilter(std::string_view text);

  bool takes(std::string_view device) const;
  bool takes_all() const { return patterns_.empty(); }
  // The devices, if all are named without a pattern; else empty.
  std::vector<std::string> names() const;

 private:
  struct Part {
    enum class Kind : unsigned char { kByte, kOne, kAny } kind;
    char byte = 0;
  };
  using Pattern = std::vector<Part>;
  static bool matches(const Pattern& pattern, std::string_view device);

  std::vector<Pattern> patterns_;
};

}  // namespace hourfold
