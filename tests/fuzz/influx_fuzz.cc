// InfluxDB line protocol, bare and inside of JSON.
#include "tests/fuzz/payloads.h"

namespace hourfold::fuzz {

void try_input(std::string_view input) {
  static const ReadingShape kShapes[] = {
      shape_of(R"({"format":"influx","device":"tag:d"})"),
      shape_of(R"({"format":"influx","device":["measurement","tag:d"],"time_unit":"ms"})"),
      shape_of(
          R"({"format":"influx","device":"key","measurement_prefix":false,"booleans":true,"time_unit":"us"})"),
      shape_of(R"({"format":"influx","device":["tag:d","tag:e"],"device_separator":"","numeric_strings":true,
                   "decimal_comma":true,"time_unit":"s","select":{"allow":["m.*"],"convert":[{"metrics":"*",
                   "scale":1e300}],"rename":{"m.t":"m.u"}}})"),
      shape_of(R"({"format":"influx","device":["envelope:/d","tag:d"],"body":"/lines"})"),
      shape_of(R"({"format":"influx","device":"tag:d","framing":"confluent"})"),
  };
  try_payload(kShapes, input);
}

}  // namespace hourfold::fuzz
