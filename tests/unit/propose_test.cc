// The proposal for a sample alone: every example of docs/PAYLOADS.md and every payload met in the field.

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/payload_print.h"
#include "app/payload_report.h"
#include "core/config.h"
#include "core/reading_section.h"
#include "payload/avro_sample.h"
#include "payload/recognise.h"
#include "tests/support/random.h"
#include "tests/unit/payload_examples.h"
#include "tests/unit/quirks.h"

namespace hourfold {
namespace {

RecordCopy record_of(const PayloadExample& example) {
  return {PayloadExample::kArrival, example.key, example.value, example.headers};
}

std::string read_with(const ReadingShape& shape, const RecordCopy& record) {
  const auto parser = make_payload_parser(shape);
  std::string text = told(parser->parse(view_of(record)));
  // What was rejected is a matter of options, not of the shape.
  if (const auto rejected = text.find("\n["); rejected != std::string::npos) text.resize(rejected + 1);
  return text;
}

std::string without_metrics(const std::string& readings) {
  std::string out;
  for (std::size_t begin = 0; begin < readings.size();) {
    const std::size_t end = readings.find('\n', begin);
    const std::string line = readings.substr(begin, end - begin);
    out += line.substr(0, line.find("  ")) + "\n";
    begin = end + 1;
  }
  return out;
}

// Examples whose section says what no sample can tell, by their section: then devices and times must be
// right.
const std::map<std::string, std::string> kMatterOfChoice = {
    {R"({"metrics": "", "select": {"deny": ["fw"]}})", "which numbers are wanted"},
    {R"({"device": "/deviceInfo/devEui", "time": "/time", "time_unit": "rfc3339", "metrics": "/object", "booleans": true})",
     "whether true is a measurement"},
    {R"({"format": "senml", "booleans": true})", "whether true is a measurement"},
    {R"({"numeric_strings": true, "decimal_comma": true, "booleans": true, "select": {"deny": ["debug*"], "convert": [{"metrics": "*_x100", "scale": 0.01}, {"metrics": "raw", "scale": 2, "offset": -5}], "rename": {"temp_x100": "temp_c"}}})",
     "names and units of metrics"},
};
// The sample names no zone, and no zone is as good as another: it is UTC until somebody says otherwise.
const std::string kZone = R"({"time_unit": "rfc3339", "time_zone": "+05:30"})";

std::string unrejected(const std::string& readings) {
  const std::size_t rejected = readings.find("\n[");
  return rejected == std::string::npos ? readings : readings.substr(0, rejected + 1);
}

// Found by a fuzzer: a name that is no UTF-8 cannot be written into a configuration, and must not end the
// program.
TEST_CASE("propose: names that no configuration can have are not proposed") {
  const std::string value = R"({"device":"/d1","t)" + std::string(21, '\xff') + R"(s":176ost=a t=1721.5})";
  const RecordCopy record{PayloadExample::kArrival, std::nullopt, value, {}};
  for (const Proposal& proposal : propose({&record, 1}).ranked) {
    for (const std::string& source : proposal.shape.device) CHECK(source.find('\xff') == std::string::npos);
  }
  Config config;
  config.reading.shape.format = PayloadFormat::kInflux;
  config.reading.shape.device = {"tag:none"};
  CHECK(!report_text(report_of(config, {{"sample", record}}, PayloadExample::kArrival), {}).empty());
}

// Given its schema, a sample in Avro is as good as one in JSON.
TEST_CASE("propose: the examples of the document in Avro are read from the sample and its schema") {
  int examples = 0;
  for (const PayloadExample& example : payload_examples(HOURFOLD_SOURCE_DIR)) {
    if (example.reading.find("\"avro\"") == std::string::npos) continue;
    ++examples;
    CAPTURE(example.title);
    const auto config = parse_config("{\"reading\":" + example.reading + "}", "example", {}, {}, false);
    REQUIRE(static_cast<bool>(config));
    const ReadingShape& documented = config->reading.shape;
    auto schemas = FixedAvroSchemas::parse(documented);
    REQUIRE(static_cast<bool>(schemas));
    const RecordCopy record = record_of(example);
    const auto json = avro_sample_as_json(record, documented, **schemas);
    REQUIRE(json.has_value());
    const Proposals proposals = propose({&*json, 1});
    REQUIRE(!proposals.ranked.empty());
    const ReadingShape shape = avro_shape_of(proposals.ranked.front().shape, documented);
    CHECK(told(make_payload_parser(shape, schemas->get())->parse(example.record())) == example.readings);
  }
  CHECK(examples == 2);
}

TEST_CASE("propose: the examples of the document are read from the sample alone") {
  std::size_t of_choice = 0;
  for (const PayloadExample& example : payload_examples(HOURFOLD_SOURCE_DIR)) {
    if (example.reading.find("\"avro\"") != std::string::npos) continue;  // below
    CAPTURE(example.title);
    CAPTURE(example.value);
    const RecordCopy record = record_of(example);
    const Proposals proposals = propose({&record, 1});
    REQUIRE(!proposals.foreign);
    REQUIRE(!proposals.ranked.empty());
    const ReadingShape& shape = proposals.ranked.front().shape;
    CAPTURE(reading_section(shape, SectionStyle::kOneLine));
    const std::string given = read_with(shape, record);
    const std::string wanted = unrejected(example.readings);
    if (kMatterOfChoice.contains(example.reading)) {
      ++of_choice;
      // A record of SenML without a usable metric is not there at all.
      const bool fewer = without_metrics(wanted).find(without_metrics(given)) == 0;
      CHECK((fewer || without_metrics(given) == without_metrics(wanted)));
    } else if (example.reading == kZone) {
      ++of_choice;
      CHECK(shape.time_zone_minutes == 0);
      CHECK(given == "d1 @ 1767245400000  t=1\n");
    } else {
      CHECK(given == wanted);
    }
  }
  CHECK(of_choice == kMatterOfChoice.size() + 1);
}

TEST_CASE("propose: what it proposes can be copied into a configuration") {
  for (const PayloadExample& example : payload_examples(HOURFOLD_SOURCE_DIR)) {
    const RecordCopy record = record_of(example);
    for (const Proposal& proposal : propose({&record, 1}).ranked) {
      const std::string section = reading_section(proposal.shape, SectionStyle::kIndented);
      CAPTURE(section);
      const auto config = parse_config("{\"reading\":" + section + "}", "proposal", {}, {}, false);
      REQUIRE(static_cast<bool>(config));
      CHECK(config->reading.shape == proposal.shape);
    }
  }
}

TEST_CASE("reading_section: the section of every example says the same again") {
  std::vector<std::string> sections = {
      "{}", R"({"device":["/a","header:b"],"device_separator":"-","arrival":"/x","arrival_unit":"auto"})",
      R"({"time_zone":"-03:30","time_unit":"rfc3339"})",
      R"({"format":"influx","device":"measurement","time_unit":"s","measurement_prefix":false})",
      R"({"format":"avro","framing":"confluent","schemas":{"7":"\"double\""}})"};
  for (const PayloadExample& example : payload_examples(HOURFOLD_SOURCE_DIR))
    sections.push_back(example.reading);
  for (const std::string& section : sections) {
    CAPTURE(section);
    const auto config = parse_config("{\"reading\":" + section + "}", "example", {}, {}, false);
    if (!config) continue;  // a secret that only the application looks up
    for (const SectionStyle style : {SectionStyle::kOneLine, SectionStyle::kIndented}) {
      const std::string printed = reading_section(config->reading.shape, style);
      CAPTURE(printed);
      const auto again = parse_config("{\"reading\":" + printed + "}", "printed", {}, {}, false);
      REQUIRE_MESSAGE(static_cast<bool>(again), (again ? std::string() : again.error().message));
      CHECK(again->reading.shape == config->reading.shape);
    }
  }
}

TEST_CASE("propose: payloads met in the field") {
  // Device and time that must come of it; others must only do no harm.
  const std::map<std::string, std::string> kRead = {
      {"ok_flat", "d1 @ 1767225600000  h=40 t=21.5"},
      {"device_nested", "0011223344556677 @ 1767225600500  t=1"},
      {"double_encoded", "d1 @ 1767225600000  t=1"},
      {"confluent_json", "d1 @ 1767225600000  t=1"},
      {"num_as_string", "d1 @ 1767225600000  t=21.5"},
      {"no_ts", "d1 @ 1767225600000  t=1"},
      {"ts_sci_string", "d1 @ 1767225600385  t=1"},
      {"ts_float_s", "d1 @ 1767225600385  t=1"},
      {"ts_us", "d1 @ 1767225600385  t=1"},
      {"ts_iso_z", "d1 @ 1767225600385  t=1"},
      {"ts_iso_off", "d1 @ 1767225600385  t=1"},
      {"ts_iso_local", "d1 @ 1767225600000  t=1"},
      {"ts_iso_ns", "d1 @ 1767225600969  t=1"},
      {"ts_iso_24", "d1 @ 1767225600000  t=1"},
      {"ts_leap", "d1 @ 1483228800000  t=1"},
      {"ts_zero", "d1 @ 1767225600000  t=1"},
      {"ts_neg", "d1 @ 1767225600000  t=1"},
      {"ts_1980", "d1 @ 1767225600000  t=1"},
      {"ts_2036", "d1 @ 2085978496000  t=1"},
      {"tb_ts_values", "k @ 1767225600512  t=21.5"},
      {"tb_gateway", "Device A @ 1767225600000  t=1"},
      {"senml", "urn:dev:mac:0024befffe804ff1 @ 1767225600000  t=21.5"},
      {"senml_rel", "urn:dev:mac:0024befffe804ff1 @ 1767225540000  t=20"},
      {"influx", "d 1 @ 1767225600000  weather.temp=21.5 weather.hum=40"},
      {"azure", "d1 @ 1767225600123  t=21.5"},
      {"azure_b64", "d1 @ 1767225600123  t=21.5"},
  };
  std::size_t read = 0;
  for (const Quirk& quirk : quirks()) {
    CAPTURE(quirk.name);
    const RecordCopy record{PayloadExample::kArrival, "k", quirk.payload, {}};
    const Proposals proposals = propose({&record, 1});
    const auto wanted = kRead.find(quirk.name);
    if (wanted == kRead.end()) continue;
    ++read;
    REQUIRE(!proposals.ranked.empty());
    const std::string given = read_with(proposals.ranked.front().shape, record);
    CAPTURE(reading_section(proposals.ranked.front().shape, SectionStyle::kOneLine));
    // Metrics of one object have no order that matters.
    if (quirk.name == "ok_flat") {
      CHECK(given == "d1 @ 1767225600000  t=21.5 h=40\n");
    } else {
      CHECK(given.substr(0, given.find('\n')) == wanted->second);
    }
  }
  CHECK(read == kRead.size());
}

TEST_CASE("propose: what cannot be read is recognised, with a word on what to do") {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, std::string> samples[] = {
      {""sv, "empty"},
      {" \n"sv, "white space"},
      {"\x1f\x8b\x08\x00\x00"sv, "gzip"},
      {"\x28\xb5\x2f\xfd\x04"sv, "zstd"},
      {"\x08\x80\xc0\xf3\x9b\xb7\x33\x12\x0a\x0a\x01t\x20\x0a\x69\x00\x00\x00\x00"sv, "Sparkplug B"},
      {"\x0a\x02"
       "d1\x11\x00\x00\x00\x00\x00\x80"
       "5@"sv,
       "Protobuf"},
      {"\x00\x00\x00\x00,\x00\x0a\x02"
       "d1\x11\x00\x00\x00\x00\x00\x80"
       "5@"sv,
       "Protobuf"},
      {"\x82\xa6"
       "device\xa2"
       "d1\xa1t\x01"sv,
       "MessagePack"},
      {"\xa2\x66"
       "device\x62"
       "d1\x61t\x01"sv,
       "CBOR"},
      {"<?xml version=\"1.0\"?><r/>"sv, "XML"},
      {"device,ts,t\nd1,1767225600,21.5\n"sv, "CSV"},
      {"{\0\"\0a\0\"\0:\0"
       "1\0}\0"sv,
       "UTF-16"},
      {"7b22646576696365223a226431227d"sv, "hexadecimal"},
      {"eyJkZXZpY2UiOiJkMSJ9"sv, "base64"},
      {"\x80\x81\x82\x83"sv, "not recognised"},
  };
  for (const auto& [value, what] : samples) {
    CAPTURE(what);
    const RecordCopy record{-1, std::nullopt, std::string(value), {}};
    const Proposals proposals = propose({&record, 1});
    REQUIRE(proposals.foreign.has_value());
    CHECK_MESSAGE(proposals.foreign->what.find(what) != std::string::npos, proposals.foreign->what);
    CHECK(!proposals.foreign->advice.empty());
  }
}

TEST_CASE("propose: Avro of a registry needs its address") {
  using namespace std::string_view_literals;
  const RecordCopy record{-1,
                          std::nullopt,
                          std::string("\x00\x00\x00\x00*\x04"
                                      "d1\x80\xc0\xf3\x9b\xef"
                                      "f\x00\x00\x00\x00\x00\x80"
                                      "5@"sv),
                          {}};
  const Proposals proposals = propose({&record, 1});
  REQUIRE(proposals.ranked.size() == 1);
  CHECK(proposals.ranked.front().needs_schemas);
}

TEST_CASE("propose: broken samples do no harm") {
  test::Random random(7);
  const std::vector<PayloadExample> examples = payload_examples(HOURFOLD_SOURCE_DIR);
  for (int round = 0; round < 600; ++round) {
    RecordCopy record = record_of(examples[random.below(examples.size())]);
    std::string& value = *record.value;
    for (std::uint64_t i = random.below(4); i > 0 && !value.empty(); --i) {
      const std::size_t at = random.below(value.size());
      if (random.below(3) == 0) value.resize(at);
      if (at < value.size()) value[at] = static_cast<char>(random.below(256));
    }
    CAPTURE(value);
    const Proposals proposals = propose({&record, 1});
    if (!proposals.ranked.empty()) CHECK(!recognise(proposals, {&record, 1}).looks_like.empty());
    Config config;
    if (!proposals.ranked.empty() && !proposals.ranked.front().needs_schemas)
      config.reading.shape = proposals.ranked.front().shape;
    CHECK(!report_text(report_of(config, {{"sample", record}}, PayloadExample::kArrival), {}).empty());
  }
}

struct Case {
  std::string sample;
  std::string section;
};

TEST_CASE("propose: what people have") {
  const Case cases[] = {
      // TTN v3
      {R"({"end_device_ids":{"device_id":"d-7","application_ids":{"application_id":"app"},"dev_eui":"70B3D57ED0000001","join_eui":"0000000000000000","dev_addr":"260B0001"},"correlation_ids":["as:up:01"],"received_at":"2026-01-01T00:00:00.5Z","uplink_message":{"session_key_id":"AX==","f_port":1,"f_cnt":10,"frm_payload":"AQID","decoded_payload":{"temperature":21.5,"humidity":40},"rx_metadata":[{"gateway_ids":{"gateway_id":"gw"},"time":"2026-01-01T00:00:00.4Z","rssi":-50,"snr":7.5}],"settings":{"data_rate":{"lora":{"bandwidth":125000,"spreading_factor":7}},"frequency":"868300000","timestamp":123},"received_at":"2026-01-01T00:00:00.4Z","consumed_airtime":"0.056s"}})",
       R"({"device": "/end_device_ids/device_id", "time": "/received_at", "time_unit": "rfc3339", "metrics": "/uplink_message/decoded_payload"})"},
      // ChirpStack v4
      {R"({"deduplicationId":"3ac7e3c4-4401-4b8d-9386-a5c902f9202d","time":"2026-01-01T00:00:00+00:00","deviceInfo":{"tenantId":"52f14cd4-c6f1-4fbd-8f87-4025e1d49242","tenantName":"t","applicationId":"17c82e96-be03-4f38-aef3-f83d48582d97","applicationName":"a","deviceProfileId":"14855bf7-d10d-4aee-b618-ebfcb64dc7ad","deviceProfileName":"p","deviceName":"n","devEui":"0101010101010101","tags":{"key":"value"}},"devAddr":"00189440","dr":1,"fCnt":3,"fPort":1,"data":"AQID","object":{"temperature":21.5},"rxInfo":[{"gatewayId":"0016c001f153a14c","rssi":-36,"snr":10.5}],"txInfo":{"frequency":867100000}})",
       R"({"device": "/deviceInfo/devEui", "time": "/time", "time_unit": "rfc3339", "metrics": "/object"})"},
      // AWS IoT: a whole shadow
      {R"({"state":{"desired":{"on":1},"reported":{"t":21.5,"h":40}},"metadata":{"reported":{"t":{"timestamp":1767225600},"h":{"timestamp":1767225600}}},"version":9,"timestamp":1767225601,"clientToken":"x","thingName":"d1"})",
       R"({"device": "/thingName", "time": "/timestamp", "time_unit": "s", "metrics": "/state/reported"})"},
      // A list of names and values around which device and time are.
      {R"({"device":"d1","ts":1767225600000,"readings":[{"name":"t","value":21.5},{"name":"h","value":40}]})",
       R"({"body": "/readings", "device": "envelope:/device", "time": "envelope:/ts", "metric": "/name"})"},
      // Kafka Connect with its schema beside the payload.
      {R"({"schema":{"type":"struct","optional":false},"payload":{"device_id":"d1","timestamp":1767225600,"temperature":21.5,"humidity":40}})",
       R"({"device": "/payload/device_id", "time": "/payload/timestamp", "time_unit": "s", "metrics": "/payload"})"},
      {R"({"specversion":"1.0","id":"A234-1234","source":"d1","type":"reading","time":"2026-01-01T00:00:00Z","data":{"t":1}})",
       R"({"device": "/source", "time": "/time", "time_unit": "rfc3339", "metrics": "/data"})"},
      {"cpu,host=a,cpu=cpu0 usage_idle=97.5,usage_user=1i 1767225600000\n",
       R"({"format": "influx", "device": "tag:host", "time_unit": "ms"})"},
      {"air,room=1,site=a t=21.5 1767225600\n",
       R"({"format": "influx", "device": ["tag:room","tag:site"], "time_unit": "s"})"},
      {R"({"id":"d1","temp":"21,5","ts":"1767225600"})",
       R"({"device": "/id", "time_unit": "s", "time_strings": true, "metrics": "", "numeric_strings": true, "decimal_comma": true})"},
      {R"({"sensor":"s1","type":"temperature","value":21.5,"time":1767225600})",
       R"({"device": "/sensor", "time": "/time", "time_unit": "s", "metric": "/type"})"},
      {R"({"device":"d1","ts":1767225600000,"t":21,"acc":{"x":1,"y":2}})", R"({"metrics": ""})"},
      {R"({"temperature":21.5,"humidity":40})", R"({"device": "key", "time": "record", "metrics": ""})"},
      {R"({"device":"door","ts":1767225600000,"metrics":{"open":true}})", R"({"booleans": true})"},
  };
  for (const Case& sample : cases) {
    CAPTURE(sample.sample);
    const RecordCopy record{PayloadExample::kArrival, std::nullopt, sample.sample, {}};
    const Proposals proposals = propose({&record, 1});
    REQUIRE(!proposals.ranked.empty());
    CHECK(reading_section(proposals.ranked.front().shape, SectionStyle::kOneLine) == sample.section);
  }
}

}  // namespace
}  // namespace hourfold
