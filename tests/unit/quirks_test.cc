// What devices, gateways and bridges really send, under the default configuration.
#include "tests/unit/quirks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
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

// Those that are sound in another shape, read as what they are.
TEST_CASE("payloads met in the field, with the configuration that they call for") {
  struct Reading {
    std::string_view quirk;
    std::string section;
    std::string outcome;
  };
  const std::string rfc3339 = R"({"time_unit":"rfc3339"})";
  const std::string gateway =
      "Device A@1767225600000 t=1 | Device A@1767225660000 t=2 | Device B@1767225600000 t=3";
  const std::string dev = "urn:dev:mac:0024befffe804ff1";
  const Reading readings[] = {
      {"ok_flat", R"({"metrics":""})", "d1@1767225600000 t=21.5 h=40"},
      {"num_as_string", R"({"numeric_strings":true})", "d1@1767225600000 t=21.5"},
      {"double_encoded", R"({"body":""})", "d1@1767225600000 t=1"},
      {"no_ts", R"({"time":"record"})", "d1@1767225600000 t=1"},
      {"ts_sci_string", R"({"time_unit":"s","time_strings":true})", "d1@1767225600385 t=1"},
      {"ts_float_s", R"({"time_unit":"s"})", "d1@1767225600385 t=1"},
      {"ts_float_s", R"({"time_unit":"auto"})", "d1@1767225600385 t=1"},
      {"ts_us", R"({"time_unit":"us"})", "d1@1767225600385 t=1"},
      {"ts_us", R"({"time_unit":"auto"})", "d1@1767225600385 t=1"},
      {"ts_iso_z", rfc3339, "d1@1767225600385 t=1"},
      {"ts_iso_off", rfc3339, "d1@1767225600385 t=1"},
      {"ts_iso_local", rfc3339, "!bad_time"},
      {"ts_iso_local", R"({"time_unit":"rfc3339","time_zone":"Z"})", "d1@1767225600000 t=1"},
      {"ts_iso_ns", rfc3339, "d1@1767225600969 t=1"},
      {"ts_iso_24", rfc3339, "d1@1767225600000 t=1"},
      {"ts_leap", rfc3339, "d1@1483228800000 t=1"},
      {"ts_zero", R"({"time_unit":"s"})", "d1@0 t=1"},
      {"ts_neg", R"({"time_unit":"auto"})", "!bad_time"},
      {"device_nested",
       R"({"device":"/deviceInfo/devEui","time":"/time","time_unit":"rfc3339","metrics":"/object"})",
       "0011223344556677@1767225600500 t=1"},
      {"tb_ts_values", R"({"format":"thingsboard","booleans":true})",
       "k1@1767225600512 t=21.5 on=1 (string:1)"},
      {"tb_gateway", R"({"format":"thingsboard_gateway"})", gateway},
      {"senml", R"({"format":"senml","booleans":true})",
       dev + "@1767225600000 t=21.5 | " + dev + "@1767225595000 h=40 | " + dev +
           "@1767225600000 open=1 e.sum=12.5"},
      {"senml_rel", R"({"format":"senml"})", dev + "@1767225540000 t=20 | " + dev + "@1767225600000 t=21"},
      {"influx", R"({"format":"influx","device":"tag:device","booleans":true})",
       "d 1@1767225600000 weather.temp=21.5 weather.hum=40 weather.open=1 | d2@1767225600000 weather.temp=10 "
       "(string:1)"},
      {"azure",
       R"({"device":"/systemProperties/iothub-connection-device-id","time":"/enqueuedTime","time_unit":"rfc3339","metrics":"/body"})",
       "d1@1767225600123 t=21.5"},
      {"azure_b64",
       R"({"body":"/Body","device":"envelope:/SystemProperties/connectionDeviceId","time":"envelope:/EnqueuedTimeUtc","time_unit":"rfc3339","metrics":""})",
       "d1@1767225600123 t=21.5"},
      {"confluent_json", R"({"framing":"confluent"})", "d1@1767225600000 t=1"},
      {"confluent_proto", R"({"framing":"confluent"})", "!bad_utf8"},
  };
  for (const Reading& reading : readings) {
    CAPTURE(reading.quirk);
    CAPTURE(reading.section);
    const auto config = parse_config("{\"reading\":" + reading.section + "}", "quirk", {}, {}, false);
    REQUIRE(static_cast<bool>(config));
    const auto all = quirks();
    const auto quirk =
        std::find_if(all.begin(), all.end(), [&](const Quirk& q) { return q.name == reading.quirk; });
    REQUIRE(quirk != all.end());
    CHECK(
        describe(make_payload_parser(config->reading.shape)->parse({quirk->payload, "k1", 1767225600000})) ==
        reading.outcome);
  }
}

}  // namespace
}  // namespace hourfold
