#include "core/config.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

namespace hourfold {
namespace {

std::optional<std::string> variable(const std::string& name) {
  if (name == "TOPIC") return "telemetry";
  if (name == "EMPTY") return "";
  if (name == "PASSWORD") return "hunter2";
  return std::nullopt;
}
std::optional<std::string> file(const std::string& path) {
  return path == "/run/secret" ? std::optional<std::string>("s3cret") : std::nullopt;
}

Result<Config> parse(std::string_view text, const std::vector<std::string>& overrides = {},
                     bool require_kafka = false) {
  return parse_config(text, "x.json", overrides, {variable, file}, require_kafka);
}

Config good(std::string_view text, const std::vector<std::string>& overrides = {},
            bool require_kafka = false) {
  auto config = parse(text, overrides, require_kafka);
  REQUIRE_MESSAGE(config, config.error().message);
  return std::move(*config);
}

std::string error_of(std::string_view text, const std::vector<std::string>& overrides = {},
                     bool require_kafka = false) {
  const auto config = parse(text, overrides, require_kafka);
  if (config) return "no error";
  CHECK(config.error().kind == ErrorKind::kRefused);
  return config.error().message;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

constexpr const char* kLeast = R"({"kafka":{"brokers":"b:9092","topics":["telemetry"]}})";

}  // namespace

TEST_CASE("everything has a default but brokers and topics") {
  for (const std::string_view text : {std::string_view(kLeast), std::string_view(R"({
    // the whole of the defaults, spelled out
    "kafka":  {"brokers":"b:9092","topics":["telemetry"],"group":"hourfold","partitioning":"by_device","on_gap":"stop","properties":{}},
    "reading":{"format":"json","device":"/device","time":"/ts","time_unit":"ms","metrics":"/metrics","arrival":"record",
               "numeric_strings":false,"booleans":false,"deduplicate":true},
    "policy": {"max_future":"5m","max_age":"29d"},
    "state":  {"dir":"state","checkpoint":"60s","retention":"48h","memory":"1GiB"},
    "sink":   {"type":"hbase","address":"127.0.0.1:9090","table":"rollups","ttl":"730d","contribution_ttl":"auto","buckets":32,
               "layout":"wide","date_tiered":false,"transport":"buffered","protocol":"binary","connections":4,"timeout":"60s"},
    "emit":   {"refresh":"60s","late_delay":"5s"}, /* and so on */
    "side":   {"dead_letter":"telemetry.dlq","quarantine":"telemetry.quarantine","archive":"telemetry.archive"},
    "http":   {"listen":"127.0.0.1:9464"},
    "workers": 0,
    "startup_timeout": "30s"
  })")}) {
    const Config c = good(text, {}, true);
    CHECK(c.kafka.brokers == "b:9092");
    CHECK(c.kafka.topics == std::vector<std::string>{"telemetry"});
    CHECK(c.kafka.group == "hourfold");
    CHECK(c.kafka.partitioning == Partitioning::kByDevice);
    CHECK(c.kafka.on_gap == OnGap::kStop);
    CHECK(c.kafka.properties.empty());
    CHECK(c.reading.shape.device == std::vector<std::string>{"/device"});
    CHECK(c.reading.shape.arrival == "record");
    CHECK(c.reading.deduplicate);
    CHECK(c.policy.max_future_ms == 300'000);
    CHECK(c.policy.max_age_ms == 29 * 86'400'000LL);
    CHECK(c.state.checkpoint_ms == 60'000);
    CHECK(c.state.retention_ms == 48 * kHourMs);
    CHECK(c.state.memory_bytes == 1ULL << 30);
    CHECK(c.sink.type == SinkType::kHbase);
    CHECK(c.sink.ttl_s == 730 * 86'400);
    CHECK(c.sink.contribution_ttl_auto);
    CHECK(c.sink.buckets == 32);
    CHECK(c.sink.timeout_ms == 60'000);
    CHECK(c.side.dead_letter == "telemetry.dlq");
    CHECK(c.side.archive == "telemetry.archive");
    CHECK(c.http.listen == "127.0.0.1:9464");
    CHECK(c.startup_timeout_ms == 30'000);
  }
}

TEST_CASE("other than the defaults") {
  const Config c = good(R"({
    "kafka": {"brokers":"a:1,b:2","topics":["t"],"group":"g","partitioning":"trusted","on_gap":"continue",
              "properties":{"session.timeout.ms":6000,"enable.ssl.certificate.verification":true,"sasl.password":"${PASSWORD}"}},
    "reading": {"device":"key","time":"/t","metrics":"/m~1x","arrival":"/received","numeric_strings":true,"booleans":true,"deduplicate":false},
    "policy": {"max_future":0,"max_age":"1d"},
    "state": {"memory": 268435456},
    "sink": {"type":"embedded","dir":"d","ttl":"forever","contribution_ttl":"3d","buckets":128,"layout":"packed","connections":1},
    "side": {"archive":"file:old"},
    "http": {"listen":""}, "workers": 7})");
  CHECK(c.kafka.partitioning == Partitioning::kTrusted);
  CHECK(c.kafka.on_gap == OnGap::kContinue);
  CHECK(c.kafka.properties.at("session.timeout.ms") == "6000");
  CHECK(c.kafka.properties.at("enable.ssl.certificate.verification") == "true");
  CHECK(c.kafka.properties.at("sasl.password") == "hunter2");
  CHECK(c.reading.shape.device == std::vector<std::string>{"key"});
  CHECK(c.reading.shape.metrics == "/m~1x");
  CHECK(c.reading.shape.arrival == "/received");
  CHECK(c.policy.max_future_ms == 0);
  CHECK(c.state.memory_bytes == 256 << 20);
  CHECK(c.sink.type == SinkType::kEmbedded);
  CHECK(!c.sink.ttl_s);
  CHECK(!c.sink.contribution_ttl_auto);
  CHECK(c.sink.contribution_ttl_s == 3 * 86'400);
  CHECK(c.sink.layout == RowLayout::kPacked);
  CHECK(c.side.dead_letter == "t.dlq");
  CHECK(c.side.archive == "file:old");
  CHECK(c.http.listen.empty());
  CHECK(c.workers == 7);
}

TEST_CASE("fold needs neither broker nor topic, and no configuration at all") {
  CHECK(good("").side.dead_letter.empty());
  CHECK(good("{}").kafka.topics.empty());
  const std::string missing = error_of("{}", {}, true);
  CHECK(contains(missing, "x.json: kafka.brokers: is missing"));
  CHECK(contains(missing, "\nx.json: kafka.topics: is missing"));
}

TEST_CASE("the very words of an error") {
  CHECK(error_of("{\n  \"kafka\": {\n    \"broker\": \"b\"\n  }\n}") ==
        "x.json:3: kafka.broker: unknown key; did you mean kafka.brokers?");
  CHECK(error_of(R"({"sink":{"buckets":200}})") ==
        "x.json:1: sink.buckets: must be a whole number from 1 to 128, is 200");
  CHECK(error_of("{\"workers\": 1,\n \"workers\": 2}") ==
        "x.json:2: workers: stands here again (first in line 1); remove one of the two");
  CHECK(error_of("{\n\"kafka\": {\"group\": }}") ==
        "x.json:2:20: broken JSON while parsing value - unexpected '}'; expected '[', '{', or a literal");
  CHECK(error_of("{\"kafka\": {\"group\": \"g\",}}") ==
        "x.json:1:25: broken JSON while parsing object key - unexpected '}'; expected string literal (JSON "
        "allows no comma behind the last entry)");
  CHECK(error_of("{}", {"emit.refresh=soon"}) ==
        "--set emit.refresh: must be a duration such as \"500ms\", \"90s\", \"5m\", \"48h\" or \"29d\", from "
        "100ms to 1d, is \"soon\"");
}

TEST_CASE("what is wrong is refused, with the key and what would be right") {
  struct Case {
    const char* text;
    const char* mentions;
  };
  const Case cases[] = {
      // unknown keys
      {R"({"kafak":{}})", "kafak: unknown key; did you mean kafka?"},
      {R"({"sink":{"tabel":"x"}})", "sink.tabel: unknown key; did you mean sink.table?"},
      {R"({"brokers":"b"})", "brokers: unknown key; did you mean kafka.brokers?"},
      {R"({"sink":{"retention":"2d"}})", "sink.retention: unknown key; did you mean state.retention?"},
      {R"({"emit":{"zzz":1}})", "emit.zzz: unknown key; known here: refresh, late_delay"},
      // types
      {R"([])", "must be one JSON object"},
      {R"({"kafka":[]})", "kafka: must be an object, { ... }, is []"},
      {R"({"kafka":null})", "kafka: must be an object, { ... }, is null"},
      {R"({"kafka":{"brokers":9092}})", "kafka.brokers: must be a text in quotes, is 9092"},
      {R"({"kafka":{"brokers":""}})", "kafka.brokers: must not be empty"},
      {R"({"reading":{"booleans":"yes"}})", "reading.booleans: must be true or false, is \"yes\""},
      {R"({"workers":-1})", "workers: must be a whole number from 0 to 1024, is -1"},
      {R"({"workers":1.5})", "workers: must be a whole number"},
      {R"({"kafka":{"properties":{"a":[1]}}})",
       "kafka.properties.a: must be a text, a number, true or false"},
      // topics and partitioning
      {R"({"kafka":{"topics":7}})", "kafka.topics: must be a list with the name of the topic"},
      {R"({"kafka":{"topics":[]}})", "kafka.topics: must be a list with the name of the topic"},
      {R"({"kafka":{"topics":["a","b"]}})", "run one hourfold per topic"},
      {R"({"kafka":{"topics":["a b"]}})", "kafka.topics: must be the name of one topic"},
      {R"({"kafka":{"partitioning":"key"}})",
       "must be one of \"by_device\", \"trusted\", \"any\", is \"key\""},
      {R"({"kafka":{"on_gap":"jump"}})", "kafka.on_gap: must be one of \"stop\", \"continue\""},
      // readings
      {R"({"reading":{"format":"xml"}})", "reading.format: must be one of \"json\", \"senml\", \"influx\""},
      {R"({"reading":{"time_unit":"m"}})", "reading.time_unit: must be one of \"ms\", \"s\", \"us\""},
      {R"({"reading":{"time_zone":"CET"}})",
       "reading.time_zone: must be \"Z\" or an offset such as \"+05:30\""},
      {R"({"reading":{"time_zone":"+24:00"}})", "reading.time_zone: must be"},
      {R"({"reading":{"device":"device"}})",
       "reading.device: must be a JSON pointer such as \"/device\", \"key\", \"header:NAME\", or a list"},
      {R"({"reading":{"device":"envelope:/id"}})", "reading.device: must be"},
      {R"({"reading":{"device":["/a","tag:b"]}})", "reading.device: must be"},
      {R"({"reading":{"device":[]}})", "reading.device: must be"},
      {R"({"reading":{"body":"b"}})", "reading.body: must be a JSON pointer"},
      {R"({"reading":{"body":"/b","device":"envelope:/b/c"}})", "reading.device: points into /b"},
      {R"({"reading":{"device":"/"}})", "reading.device: must be a JSON pointer"},
      {R"({"reading":{"time":"key"}})",
       "reading.time: must be a JSON pointer such as \"/ts\", or \"record\", is \"key\""},
      {R"({"reading":{"metrics":"metrics"}})",
       "reading.metrics: must be a JSON pointer such as \"/metrics\", or \"\" for the reading itself"},
      {R"({"reading":{"metrics":"/ts"}})", "points to /ts"},
      {R"({"reading":{"time":"/device/t"}})",
       "reading.time: points into /device, and so does reading.device"},
      {R"({"reading":{"metric":"/m","metrics":"/x"}})",
       "reading.metrics: and reading.metric exclude each other"},
      {R"({"reading":{"value":"/v"}})", "reading.value: is where the one metric of a reading has its value"},
      {R"({"reading":{"decimal_comma":true}})", "reading.decimal_comma: is about numbers in strings"},
      {R"({"reading":{"format":"influx"}})", "reading.device: is missing; name the tags"},
      {R"({"reading":{"format":"influx","device":"tag:h","time_unit":"rfc3339"}})",
       "reading.time_unit: must be one of"},
      {R"({"reading":{"format":"senml","time":"/t"}})", "reading.time: must be \"record\""},
      {R"({"reading":{"format":"senml","metrics":"/t"}})",
       "reading.metrics: has no meaning with \"format\": \"senml\"; it belongs to \"json\" and \"avro\""},
      {R"({"reading":{"measurement_prefix":true}})", "reading.measurement_prefix: has no meaning"},
      {R"({"reading":{"format":"avro"}})", "reading.schema: is needed"},
      {R"({"reading":{"format":"avro","framing":"confluent"}})",
       "reading.schema_registry: or reading.schemas is needed"},
      {R"({"reading":{"format":"avro","framing":"confluent","schemas":{"x":"{}"}}})",
       "reading.schemas.x: is no id"},
      {R"({"reading":{"schema":"{}"}})", "reading.schema: has no meaning"},
      {R"({"reading":{"select":{"allow":"t","deny":[""]}}})",
       "reading.select.deny: must be a list of names and patterns"},
      {R"({"reading":{"select":{"convert":[{"metrics":"t","scale":0}]}}})",
       "reading.select.convert: must be a list"},
      {R"({"reading":{"select":{"convert":[{"metrics":"t","factor":2}]}}})",
       "reading.select.convert: must be a list"},
      {R"({"reading":{"select":{"rename":{"a":"x","b":"x"}}}})", "reading.select.rename: must be an object"},
      {R"({"reading":{"max_metrics":0}})", "reading.max_metrics: must be a whole number from 1 to 4096"},
      // durations and sizes
      {R"({"policy":{"max_age":"29"}})", "policy.max_age: must be a duration"},
      {R"({"policy":{"max_age":29}})", "policy.max_age: must be a duration"},
      {R"({"policy":{"max_future":"-5m"}})", "policy.max_future: must be a duration"},
      {R"({"state":{"retention":"0"}})", "state.retention: must be a duration"},
      {R"({"state":{"checkpoint":"2h"}})", "from 100ms to 1h, is \"2h\""},
      {R"({"state":{"memory":"1GB!"}})", "state.memory: must be a size such as"},
      {R"({"state":{"memory":"1MiB"}})", "at least 64MiB"},
      {R"({"sink":{"timeout":"1ms"}})", "sink.timeout: must be a duration"},
      // TTLs
      {R"({"sink":{"ttl":"never"}})",
       "sink.ttl: must be a duration such as \"730d\" (1s to 24855d), \"forever\", is \"never\""},
      {R"({"sink":{"ttl":"auto"}})", "sink.ttl: must be a duration"},
      {R"({"sink":{"ttl":"30000d"}})", "sink.ttl: must be a duration"},
      {R"({"sink":{"ttl":"28d"}})", "sink.ttl: is shorter than policy.max_age (29d)"},
      {R"({"sink":{"contribution_ttl":"29d"}})", "sink.contribution_ttl: must be at least"},
      // sinks
      {R"({"sink":{"buckets":0}})", "sink.buckets: must be a whole number from 1 to 128, is 0"},
      {R"({"sink":{"connections":0}})", "sink.connections: must be a whole number from 1"},
      {R"({"sink":{"address":"hbase"}})", "sink.address: must be host:port"},
      {R"({"sink":{"address":"hbase:99999"}})", "sink.address: must be host:port"},
      {R"({"sink":{"dir":"d"}})", "sink.dir: belongs to \"type\": \"embedded\", and sink.type is \"hbase\""},
      {R"({"sink":{"type":"embedded","address":"a:1"}})", "sink.address: belongs to \"type\": \"hbase\""},
      {R"({"http":{"listen":"9464"}})", "http.listen: must be host:port"},
      // side outputs
      {R"({"kafka":{"topics":["t"]},"side":{"archive":"t"}})", "side.archive: is the topic that is read"},
      {R"({"side":{"archive":"file:"}})", "side.archive: names no folder"},
      {R"({"side":{"archive":""}})", "side.archive: must be a topic or \"file:DIR\""},
      // secrets
      {R"({"kafka":{"group":"${NOBODY}"}})", "kafka.group: the environment variable NOBODY is not set"},
      {R"({"kafka":{"group":"${file:/nowhere}"}})", "kafka.group: the file /nowhere cannot be read"},
      {R"({"kafka":{"group":"${"}})", "kafka.group: \"${\" must be ${VARIABLE} or ${file:PATH}"},
      {R"({"kafka":{"group":"${EMPTY}"}})", "kafka.group: must not be empty"},
      // syntax
      {"{", "x.json:1:2: broken JSON"},
      {"{} {}", "x.json:1:4: broken JSON"},
      {R"({"a":1e999})", "x.json: "},
      {R"({"kafka":{"group":"a","group":"b"}})", "kafka.group: stands here again"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    const std::string error = error_of(c.text);
    CHECK_MESSAGE(contains(error, c.mentions), error);
  }
}

TEST_CASE("several problems are told at once, in order of their lines") {
  CHECK(error_of("{\"workers\": -1,\n\"sink\": {\"buckets\": 0},\n\"kafka\": {\"grop\": 1}}") ==
        "x.json:1: workers: must be a whole number from 0 to 1024, is -1\n"
        "x.json:2: sink.buckets: must be a whole number from 1 to 128, is 0\n"
        "x.json:3: kafka.grop: unknown key; did you mean kafka.group?");
}

TEST_CASE("secrets come from variables and files, and never into a message") {
  CHECK(good(R"({"kafka":{"group":"${TOPIC}-${file:/run/secret}-$${TOPIC}-$5"}})").kafka.group ==
        "telemetry-s3cret-${TOPIC}-$5");
  CHECK(good(R"({"kafka":{"topics":["${TOPIC}"]}})").kafka.topics.front() == "telemetry");
  const std::string error = error_of(
      R"({"sink":{"address":"${PASSWORD}"},"policy":{"max_age":"${PASSWORD}"},"http":{"listen":"${PASSWORD}"}})");
  CHECK(contains(error, "${PASSWORD}"));
  CHECK(!contains(error, "hunter2"));
}

TEST_CASE("--set puts values over the file's") {
  const Config c =
      good(kLeast, {"sink.table=hourly", "sink.buckets=64", "kafka.group=42", "kafka.topics=other",
                    "reading.deduplicate=false", "kafka.properties.session.timeout.ms=6000",
                    "kafka.properties.debug=a=b,c", "http.listen="});
  CHECK(c.sink.table == "hourly");
  CHECK(c.sink.buckets == 64);
  CHECK(c.kafka.group == "42");
  CHECK(c.kafka.topics == std::vector<std::string>{"other"});
  CHECK(c.side.dead_letter == "other.dlq");
  CHECK(!c.reading.deduplicate);
  CHECK(c.kafka.properties.at("session.timeout.ms") == "6000");
  CHECK(c.kafka.properties.at("debug") == "a=b,c");
  CHECK(c.http.listen.empty());
  CHECK(good("", {R"(kafka={"group":"whole"})"}).kafka.group == "whole");
  CHECK(good(kLeast, {"workers=1", "workers=2"}).workers == 2);

  CHECK(error_of("{}", {"sink.tabel=x"}) == "--set sink.tabel: unknown key; did you mean sink.table?");
  CHECK(contains(error_of("{}", {"sink.table"}), "write --set KEY=VALUE"));
  CHECK(contains(error_of("{}", {"=x"}), "write --set KEY=VALUE"));
  CHECK(contains(error_of("{}", {"sink..table=x"}), "write --set KEY=VALUE"));
  CHECK(contains(error_of(kLeast, {"kafka.brokers.x=1"}), "--set kafka.brokers.x: kafka.brokers is string"));
}

TEST_CASE("a sink switched with --set leaves out the file's keys for the other one") {
  const std::string hbase = R"({"sink":{"type":"hbase","address":"a:1","table":"t"}})";
  const Config c = good(hbase, {"sink.type=embedded", "sink.dir=local"});
  CHECK(c.sink.type == SinkType::kEmbedded);
  CHECK(c.sink.dir == "local");
  CHECK(contains(error_of(hbase, {"sink.type=embedded", "sink.table=x"}),
                 "--set sink.table: belongs to \"type\": \"hbase\""));
  CHECK(contains(error_of(hbase, {"sink.dir=x"}), "--set sink.dir: belongs to \"type\": \"embedded\""));
}

TEST_CASE("durations") {
  struct Case {
    const char* text;
    std::optional<std::int64_t> ms;
  };
  const Case cases[] = {{"0", 0},
                        {"0s", 0},
                        {"500ms", 500},
                        {"90s", 90'000},
                        {"5m", 300'000},
                        {"48h", 172'800'000},
                        {"29d", 2'505'600'000},
                        {"", {}},
                        {"5", {}},
                        {"m", {}},
                        {"-5m", {}},
                        {"+5m", {}},
                        {"5 m", {}},
                        {"1.5h", {}},
                        {"1h30m", {}},
                        {"5M", {}},
                        {"5min", {}},
                        {" 5m", {}},
                        {"9223372036854775807d", {}},
                        {"99999999999999999999s", {}},
                        {"106751991168d", {}}};
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(parse_duration_ms(c.text) == c.ms);
  }
  for (const char* text : {"0", "1ms", "1500ms", "90s", "5m", "48h", "29d"}) {
    CAPTURE(text);
    const auto back = parse_duration_ms(format_duration(*parse_duration_ms(text)));
    CHECK(back == parse_duration_ms(text));
  }
  CHECK(format_duration(172'800'000) == "2d");
  CHECK(format_duration(1'500) == "1500ms");
}

TEST_CASE("sizes") {
  struct Case {
    const char* text;
    std::optional<std::uint64_t> bytes;
  };
  const Case cases[] = {{"0", 0},
                        {"1024", 1024},
                        {"12B", 12},
                        {"500kB", 500'000},
                        {"64MiB", 64ULL << 20},
                        {"1GiB", 1ULL << 30},
                        {"2TiB", 2ULL << 40},
                        {"3GB", 3'000'000'000},
                        {"", {}},
                        {"GiB", {}},
                        {"1gib", {}},
                        {"-1", {}},
                        {"1.5GiB", {}},
                        {"1 GiB", {}},
                        {"99999999TiB", {}}};
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(parse_bytes(c.text) == c.bytes);
  }
}

TEST_CASE("the fingerprint is of what decides which readings are folded, and of nothing else") {
  const std::string at_rest = semantics_fingerprint(Config{});
  CHECK(at_rest == "b4edf2da064bff50");
  for (const char* same : {"kafka.group=g", "state.retention=72h", "sink.table=t", "emit.refresh=5s",
                           "workers=3", "policy.max_age=696h"}) {
    CAPTURE(same);
    CHECK(semantics_fingerprint(good("", {same})) == at_rest);
  }
  for (const char* other : {"reading.device=key", "reading.time=/t", "reading.metrics=/m",
                            "reading.arrival=/a", "reading.numeric_strings=true", "reading.booleans=true",
                            "reading.deduplicate=false", "policy.max_future=6m", "policy.max_age=28d"}) {
    CAPTURE(other);
    CHECK(semantics_fingerprint(good("", {other})) != at_rest);
  }
}

TEST_CASE("the example files are read") {
  for (const std::string name : {"hbase.json", "embedded.json"}) {
    CAPTURE(name);
    std::ifstream in(std::string(HOURFOLD_SOURCE_DIR) + "/configs/" + name);
    REQUIRE(in);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto config = parse_config(text, name, {}, {}, true);
    REQUIRE_MESSAGE(config, config.error().message);
    CHECK(config->kafka.topics == std::vector<std::string>{"telemetry"});
    CHECK((config->sink.type == SinkType::kHbase) == (name == "hbase.json"));
    CHECK(semantics_fingerprint(*config) == semantics_fingerprint(Config{}));
  }
}

}  // namespace hourfold
