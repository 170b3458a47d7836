// ThingsBoard telemetry, of a device and of a gateway.
#include "tests/fuzz/payloads.h"

namespace hourfold::fuzz {

void try_input(std::string_view input) {
  static const ReadingShape kShapes[] = {
      shape_of(R"({"format":"thingsboard"})"),
      shape_of(R"({"format":"thingsboard_gateway"})"),
      shape_of(
          R"({"format":"thingsboard","device":["key","header:device-id"],"booleans":true,"numeric_strings":true})"),
      shape_of(R"({"format":"thingsboard_gateway","device":["header:device-id","name"],
                   "select":{"deny":["a.*"],"rename":{"t":"h"}}})"),
      shape_of(
          R"({"format":"thingsboard_gateway","body":"/b","device":["envelope:/d","name"],"arrival":"envelope:/at"})"),
      shape_of(R"({"format":"thingsboard","body":"","device":"key"})"),
  };
  try_payload(kShapes, input);
}

}  // namespace hourfold::fuzz
