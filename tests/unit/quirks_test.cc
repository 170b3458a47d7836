// What devices, gateways and bridges really send, under the default configuration.
#include "tests/unit/quirks.h"

#include <doctest/doctest.h>

#include <optional>

#include "payload/json_parser.h"
#include "tests/unit/parsed_record_text.h"

namespace hourfold {
namespace {

TEST_CASE("payloads met in the field") {
  JsonParser parser{ReadingShape{}};
  for (const Quirk& quirk : quirks()) {
    CAPTURE(quirk.name);
    CAPTURE(quirk.why);
    CHECK(describe(parser.parse({quirk.payload, std::nullopt, 1767225600000})) == quirk.outcome);
  }
}

}  // namespace
}  // namespace hourfold
