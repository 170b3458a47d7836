// Every example of docs/PAYLOADS.md: the record, read as its section says, gives the readings that stand
// there.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/config.h"
#include "payload/avro_schemas.h"
#include "payload/payload_parser.h"
#include "tests/unit/payload_examples.h"

namespace hourfold {
namespace {

TEST_CASE("every example of the document") {
  const std::vector<PayloadExample> examples = payload_examples(HOURFOLD_SOURCE_DIR);
  CHECK(examples.size() >= 26);
  for (const PayloadExample& example : examples) {
    CAPTURE(example.title);
    CAPTURE(example.reading);
    const auto config = parse_config("{\"reading\":" + example.reading + "}", "example", {}, {}, false);
    REQUIRE_MESSAGE(static_cast<bool>(config), (config ? std::string() : config.error().message));
    const auto schemas = FixedAvroSchemas::parse(config->reading.shape);
    REQUIRE_MESSAGE(static_cast<bool>(schemas), (schemas ? std::string() : schemas.error().message));
    const auto parser = make_payload_parser(config->reading.shape, schemas->get());
    CHECK(told(parser->parse(example.record())) == example.readings);
  }
}

}  // namespace
}  // namespace hourfold
