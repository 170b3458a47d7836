// Patterns against a naive matcher that tries everything; filters of devices that are made of them.
//
// An input is a line with the pattern, and the text.
#include <vector>

#include "app/device_filter.h"
#include "core/glob.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {
namespace {

// Whether the pattern from p on matches the text from t on, a table over both, from their ends.
bool slow_match(std::string_view pattern, std::string_view text) {
  std::vector<std::vector<bool>> fits(pattern.size() + 1, std::vector<bool>(text.size() + 1, false));
  fits[pattern.size()][text.size()] = true;
  for (std::size_t p = pattern.size(); p-- > 0;) {
    const bool escape = pattern[p] == '\\' && p + 1 < pattern.size();
    for (std::size_t t = text.size() + 1; t-- > 0;) {
      const bool more = t < text.size();
      if (escape)
        fits[p][t] = more && pattern[p + 1] == text[t] && fits[p + 2][t + 1];
      else if (pattern[p] == '*')
        fits[p][t] = fits[p + 1][t] || (more && fits[p][t + 1]);
      else
        fits[p][t] = more && (pattern[p] == '?' || pattern[p] == text[t]) && fits[p + 1][t + 1];
    }
  }
  return fits[0][0];
}

}  // namespace

void try_input(std::string_view bytes) {
  Input input(bytes.substr(0, 600));
  const Exact pattern(input.line());
  const Exact text(input.rest());
  const Glob glob(pattern.view());
  const bool matches = slow_match(pattern.view(), text.view());
  require(glob.matches(text.view()) == matches, matches ? "a match" : "no match", pattern.view());
  if (const auto literal = glob.literal()) {
    require(glob.matches(*literal), "the literal to match", *literal);
    require(matches == (text.view() == *literal), "the literal alone to match", *literal);
  }
  const DeviceFilter filter(pattern.view());
  filter.takes(text.view());
  for (const std::string& name : filter.names()) require(filter.takes(name), "each name to be taken", name);
}

}  // namespace hourfold::fuzz
