// SenML packs, with the device from the pack and from around it.
#include "tests/fuzz/payloads.h"

namespace hourfold::fuzz {

void try_input(std::string_view input) {
  static const ReadingShape kShapes[] = {
      shape_of(R"({"format":"senml"})"),
      shape_of(R"({"format":"senml","booleans":true,"numeric_strings":true,"decimal_comma":true})"),
      shape_of(R"({"format":"senml","device":["header:device-id","name"],"device_separator":""})"),
      shape_of(R"({"format":"senml","device":"key","select":{"deny":["*.sum"],"rename":{"t":"temp"}}})"),
      shape_of(R"({"format":"senml","body":"/p","device":["envelope:/d","name"],"arrival":"envelope:/at"})"),
  };
  try_payload(kShapes, input);
}

}  // namespace hourfold::fuzz
