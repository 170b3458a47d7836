// Patterns of names: * is any text, ? one byte, and a backslash takes the next byte as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hourfold {

class Glob {
 public:
  explicit Glob(std::string_view pattern);

  bool matches(std::string_view text) const;
  // The only text that it matches, if it has neither * nor ?.
  std::optional<std::string> literal() const;

 private:
  struct Part {
    enum class Kind : unsigned char { kByte, kOne, kAny } kind;
    char byte = 0;
  };
  std::vector<Part> parts_;
};

}  // namespace hourfold
