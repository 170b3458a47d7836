// What devices, gateways and bridges really send, under the default configuration.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>

#include "payload/json_parser.h"
#include "tests/unit/parsed_record_text.h"

namespace hourfold {
namespace {

using namespace std::string_view_literals;

struct Quirk {
  std::string name;
  std::string payload;
  std::string outcome;
  std::string why;

  Quirk(std::string_view n, std::string_view p, std::string_view o, std::string_view w)
      : name(n), payload(p), outcome(o), why(w) {}
};

constexpr std::string_view kHead = R"({"device":"d1","ts":1767225600000,"metrics":)";

std::string device_with_name_of(std::size_t bytes) {
  return R"({"device":")" + std::string(bytes, 'x') + R"(","ts":1767225600000,"metrics":{"t":1}})";
}

std::string reading_with_metrics(int count) {
  std::string text(kHead);
  for (int m = 0; m < count; ++m) {
    char metric[32];
    std::snprintf(metric, sizeof metric, "%c\"m%05d\":%d", m == 0 ? '{' : ',', m, m);
    text += metric;
  }
  return text + "}}";
}

std::string reading_of_depth(int depth) {
  std::string text(kHead);
  for (int level = 2; level <= depth; ++level) text += R"({"a":)";
  return text + "1" + std::string(static_cast<std::size_t>(depth), '}');
}

TEST_CASE("payloads met in the field") {
  const Quirk quirks[] = {
#include "tests/unit/quirks.inc"
  };
  JsonParser parser{ReadingShape{}};
  for (const Quirk& quirk : quirks) {
    CAPTURE(quirk.name);
    CAPTURE(quirk.why);
    CHECK(describe(parser.parse({quirk.payload, std::nullopt, 1767225600000})) == quirk.outcome);
  }
}

}  // namespace
}  // namespace hourfold
