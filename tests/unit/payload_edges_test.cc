// Edges of the payload formats beside JSON, and of what is wrapped in it.
#include <doctest/doctest.h>

#include <string>

#include "payload/base64.h"
#include "tests/unit/json_parser_cases.h"

namespace hourfold {
namespace {

TEST_CASE("base64 has the padding that its length needs, or none") {
  std::string out;
  for (const char* sound : {"", "TQ", "TQ==", "TWE", "TWE=", "TWFu", "-_-_", "+/+/"}) {
    CAPTURE(sound);
    CHECK(decode_base64(sound, out));
  }
  for (const char* broken :
       {"T", "=", "==", "====", "TQ=", "TQ===", "TWE==", "TWFu=", "TWFu==", "T=Q=", "T Q"}) {
    CAPTURE(broken);
    CHECK_FALSE(decode_base64(broken, out));
  }
}

TEST_CASE("a SenML record that names its device alone has the metric `value`") {
  ReadingShape shape;
  shape.format = PayloadFormat::kSenml;
  shape.device = {"name"};
  CHECK(outcome_of(R"([{"n":"dev","v":1},{"n":"dev/t","v":2}])", shape) == "dev@1767225601000 value=1 t=2");
  CHECK(outcome_of(R"([{"bn":"dev","v":1},{"v":2},{"s":3}])", shape) ==
        "dev@1767225601000 value=2 value.sum=3");
}

}  // namespace
}  // namespace hourfold
