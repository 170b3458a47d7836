// Payloads that were met in the field (quirks.inc).
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace hourfold {

struct Quirk {
  std::string name;
  std::string payload;
  std::string outcome;  // under the default configuration, as describe() says it
  std::string why;

  Quirk(std::string_view n, std::string_view p, std::string_view o, std::string_view w)
      : name(n), payload(p), outcome(o), why(w) {}
};

inline constexpr std::string_view kQuirkHead = R"({"device":"d1","ts":1767225600000,"metrics":)";

inline std::string device_with_name_of(std::size_t bytes) {
  return R"({"device":")" + std::string(bytes, 'x') + R"(","ts":1767225600000,"metrics":{"t":1}})";
}

inline std::string reading_with_metrics(int count) {
  std::string text(kQuirkHead);
  for (int m = 0; m < count; ++m) {
    char metric[32];
    std::snprintf(metric, sizeof metric, "%c\"m%05d\":%d", m == 0 ? '{' : ',', m, m);
    text += metric;
  }
  return text + "}}";
}

inline std::string reading_of_depth(int depth) {
  std::string text(kQuirkHead);
  for (int level = 2; level <= depth; ++level) text += R"({"a":)";
  return text + "1" + std::string(static_cast<std::size_t>(depth), '}');
}

inline std::vector<Quirk> quirks() {
  using namespace std::string_view_literals;
  return {
#include "tests/unit/quirks.inc"
  };
}

}  // namespace hourfold
