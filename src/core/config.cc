#include "core/config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "core/config_reading.h"
#include "core/config_section.h"

namespace hourfold {
namespace {

constexpr std::int64_t kSecondMs = 1000;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr std::int64_t kLongestMs = 36'500 * kDayMs;
// HBase keeps a TTL as seconds in 31 bits, and the largest means forever.
constexpr std::int64_t kLongestTtlMs = 24'855 * kDayMs;
constexpr std::string_view kFilePrefix = "file:";

bool is_topic_name(std::string_view name) {
  return !name.empty() && name.size() <= 249 && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
         });
}

constexpr std::string_view kTopicRule = "a topic has 1 to 249 letters, digits, dots, hyphens and underscores";

// host:port, also [::1]:port.
bool is_address(std::string_view text, std::uint32_t lowest_port) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = text.substr(colon + 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size() && number >= lowest_port &&
         number <= 65'535;
}

void read_topics(ConfigSection& section, std::vector<std::string>& topics) {
  const auto list = section.texts("topics");
  if (!section.has("topics")) return;
  if (!list || list->empty())
    return section.expected("topics", R"(a list with the name of the topic, as ["telemetry"])");
  if (list->size() > 1) {
    return section.problem(
        "topics",
        "one service reads one topic; run one hourfold per topic. With kafka.partitioning \"any\" in all of "
        "them they may share a table");
  }
  if (!is_topic_name(list->front()))
    return section.expected("topics", "the name of one topic; " + std::string(kTopicRule));
  topics = *list;
}

// Which of them hourfold sets itself is the Kafka adapter's to say.
void read_properties(ConfigSection& kafka, std::map<std::string, std::string>& properties) {
  ConfigSection section = kafka.section("properties");
  const nlohmann::json* all = kafka.value("properties");
  if (all == nullptr || !all->is_object()) return;
  for (const auto& item : all->items()) {
    const nlohmann::json* value = section.value(item.key());
    const bool overridden = section.reader().document().is_overridden(section.path_of(item.key()));
    if (value->is_string() || (overridden && value->is_primitive())) {
      if (const auto text = section.text(item.key())) properties[item.key()] = *text;
    } else if (value->is_boolean() || value->is_number()) {
      properties[item.key()] = value->dump();
    } else {
      section.problem(item.key(), "must be a text, a number, true or false");
    }
  }
}

void read_kafka(ConfigSection section, KafkaConfig& kafka, bool required) {
  section.filled_text("brokers", kafka.brokers);
  read_topics(section, kafka.topics);
  section.filled_text("group", kafka.group);
  section.choice<Partitioning>("partitioning",
                               {{"by_device", Partitioning::kByDevice},
                                {"trusted", Partitioning::kTrusted},
                                {"any", Partitioning::kAny}},
                               kafka.partitioning);
  section.choice<OnGap>("on_gap", {{"stop", OnGap::kStop}, {"continue", OnGap::kContinue}}, kafka.on_gap);
  read_properties(section, kafka.properties);
  if (!required) return;
  if (!section.has("brokers"))
    section.problem("brokers", R"(is missing; name the brokers, as "kafka1:9092,kafka2:9092")");
  if (!section.has("topics")) section.problem("topics", R"(is missing; name the topic, as ["telemetry"])");
}

void read_policy(ConfigSection section, ArrivalPolicy& policy) {
  section.duration("max_future", 0, kLongestMs, policy.max_future_ms);
  section.duration("max_age", 0, kLongestMs, policy.max_age_ms);
}

void read_state(ConfigSection section, StateConfig& state) {
  section.filled_text("dir", state.dir);
  section.duration("checkpoint", 100, kHourMs, state.checkpoint_ms);
  section.duration("retention", kHourMs, kLongestMs, state.retention_ms);
  section.bytes("memory", 64ULL << 20, state.memory_bytes);
}

// A duration of whole seconds, "forever" (empty) or another word; false if it is that word, missing or a
// problem.
bool read_ttl(ConfigSection& section, const std::string& key, std::string_view other_word,
              std::optional<std::int64_t>& out_s) {
  const auto text = section.text(key);
  if (!text || (!other_word.empty() && *text == other_word)) return false;
  if (*text == "forever") {
    out_s.reset();
    return true;
  }
  const auto ms = parse_duration_ms(*text);
  if (!ms || *ms < kSecondMs || *ms % kSecondMs != 0 || *ms > kLongestTtlMs) {
    const std::string or_word = other_word.empty() ? "" : ", \"" + std::string(other_word) + "\"";
    section.expected(key, R"(a duration such as "730d" (1s to 24855d), "forever")" + or_word);
    return false;
  }
  out_s = *ms / kSecondMs;
  return true;
}

// Cells are as old as their hour: what a TTL is too short for is written and never seen.
void read_ttls(ConfigSection& section, const ArrivalPolicy& policy, SinkConfig& sink) {
  read_ttl(section, "ttl", "", sink.ttl_s);
  sink.contribution_ttl_auto = !read_ttl(section, "contribution_ttl", "auto", sink.contribution_ttl_s);
  if (sink.ttl_s && *sink.ttl_s * kSecondMs < policy.max_age_ms) {
    section.problem("ttl",
                    "is shorter than policy.max_age (" + format_duration(policy.max_age_ms) +
                        "): readings would be accepted and never seen; raise it, or lower policy.max_age");
  }
  if (!sink.contribution_ttl_auto && sink.contribution_ttl_s &&
      *sink.contribution_ttl_s * kSecondMs < policy.max_age_ms + kDayMs) {
    section.problem("contribution_ttl",
                    "must be at least the topic's retention + policy.max_age (" +
                        format_duration(policy.max_age_ms) +
                        ") + 1d, or late readings would begin hours anew; \"auto\" works it out");
  }
}

// A key of the other kind of sink says that the operator believes to write somewhere else. If --set has
// switched the kind, the file's keys are just what it was switched from.
void refuse_keys_of_the_other_sink(ConfigSection& section, SinkType type) {
  const ConfigDocument& document = section.reader().document();
  const bool switched = document.is_overridden("sink.type");
  const auto refuse = [&](const std::string& key, const std::string& belongs_to) {
    if (!section.has(key) || (switched && !document.is_overridden(section.path_of(key)))) return;
    section.problem(key, R"(belongs to "type": ")" + belongs_to + "\", and sink.type is \"" +
                             (type == SinkType::kHbase ? "hbase" : "embedded") +
                             "\"; remove it, or set sink.type");
  };
  if (type == SinkType::kHbase) return refuse("dir", "embedded");
  for (const char* key : {"address", "table", "date_tiered", "transport", "protocol", "timeout"})
    refuse(key, "hbase");
}

void read_sink(ConfigSection section, const ArrivalPolicy& policy, SinkConfig& sink) {
  section.choice<SinkType>("type", {{"hbase", SinkType::kHbase}, {"embedded", SinkType::kEmbedded}},
                           sink.type);
  if (const auto address = section.text("address")) {
    if (!is_address(*address, 1))
      section.expected("address", "host:port of the Thrift2 server, as \"127.0.0.1:9090\"");
    sink.address = *address;
  }
  section.filled_text("table", sink.table);
  section.filled_text("dir", sink.dir);
  read_ttls(section, policy, sink);
  section.number("buckets", 1, 128, sink.buckets);
  section.choice<RowLayout>("layout", {{"wide", RowLayout::kWide}, {"packed", RowLayout::kPacked}},
                            sink.layout);
  section.flag("date_tiered", sink.date_tiered);
  section.choice<ThriftTransport>(
      "transport", {{"buffered", ThriftTransport::kBuffered}, {"framed", ThriftTransport::kFramed}},
      sink.transport);
  section.choice<ThriftProtocol>("protocol",
                                 {{"binary", ThriftProtocol::kBinary}, {"compact", ThriftProtocol::kCompact}},
                                 sink.protocol);
  section.number("connections", 1, 256, sink.connections);
  section.duration("timeout", kSecondMs, kHourMs, sink.timeout_ms);
  refuse_keys_of_the_other_sink(section, sink.type);
}

void read_emit(ConfigSection section, EmitConfig& emit) {
  section.duration("refresh", 100, kDayMs, emit.refresh_ms);
  section.duration("late_delay", 0, kHourMs, emit.late_delay_ms);
}

void read_side_output(ConfigSection& section, const std::string& key, const std::string& suffix,
                      const std::vector<std::string>& topics, std::string& out) {
  const auto given = section.text(key);
  if (section.has(key) && !given) return;
  if (!given && topics.empty()) return;
  const std::string target = given ? *given : topics.front() + suffix;
  if (target == kFilePrefix) return section.problem(key, "names no folder behind \"file:\"");
  if (!target.starts_with(kFilePrefix) && !is_topic_name(target)) {
    return section.problem(key, "must be a topic or \"file:DIR\"; " + std::string(kTopicRule) +
                                    (given ? "" : ", and " + target + " is none"));
  }
  if (!topics.empty() && target == topics.front()) {
    return section.problem(key, "is the topic that is read: what is refused would come back for ever");
  }
  out = target;
}

void read_side(ConfigSection section, const std::vector<std::string>& topics, SideConfig& side) {
  read_side_output(section, "dead_letter", ".dlq", topics, side.dead_letter);
  read_side_output(section, "quarantine", ".quarantine", topics, side.quarantine);
  read_side_output(section, "archive", ".archive", topics, side.archive);
}

void read_http(ConfigSection section, HttpConfig& http) {
  const auto listen = section.text("listen");
  if (!listen) return;
  if (!listen->empty() && !is_address(*listen, 0))
    return section.expected("listen", R"(host:port, as "0.0.0.0:9464", or "" for no server)");
  http.listen = *listen;
}

void read_all(ConfigSection root, Config& config, bool require_kafka) {
  read_kafka(root.section("kafka"), config.kafka, require_kafka);
  read_reading(root.section("reading"), config.reading);
  read_policy(root.section("policy"), config.policy);
  read_state(root.section("state"), config.state);
  read_sink(root.section("sink"), config.policy, config.sink);
  read_emit(root.section("emit"), config.emit);
  read_side(root.section("side"), config.kafka.topics, config.side);
  read_http(root.section("http"), config.http);
  root.number("workers", 0, 1024, config.workers);
  root.duration("startup_timeout", 0, kHourMs, config.startup_timeout_ms);
}

}  // namespace

Result<Config> parse_config(std::string_view text, std::string_view name,
                            const std::vector<std::string>& overrides, const SecretLookup& secrets,
                            bool require_kafka) {
  const auto document = read_config_document(text, name, overrides);
  if (!document) return document.error();
  ConfigReader reader(*document, secrets);
  Config config;
  read_all(reader.root(), config, require_kafka);
  std::string message;
  for (const std::string& problem : reader.take_problems())
    message += (message.empty() ? "" : "\n") + problem;
  if (!message.empty()) return refused(std::move(message));
  return config;
}

}  // namespace hourfold
