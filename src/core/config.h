// The configuration: one JSON file with comments, ${VAR} and ${file:PATH} for secrets, unknown keys refused
// with the nearest known one. Everything has a default but kafka.brokers and kafka.topics. Reference:
// docs/CONFIGURATION.md.
//
// Errors: Refused, with file, line where known, key, what is wrong and what would be right, a line each.
// Nothing is ever guessed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/classify.h"
#include "core/reading_shape.h"
#include "core/result.h"
#include "core/rollup_row.h"
#include "core/window.h"

namespace hourfold {

enum class Partitioning : std::uint8_t { kByDevice, kTrusted, kAny };
enum class OnGap : std::uint8_t { kStop, kContinue };
enum class SinkType : std::uint8_t { kHbase, kEmbedded };
enum class ThriftTransport : std::uint8_t { kBuffered, kFramed };
enum class ThriftProtocol : std::uint8_t { kBinary, kCompact };

struct KafkaConfig {
  std::string brokers;
  std::vector<std::string> topics;  // exactly one
  std::string group = "hourfold";
  Partitioning partitioning = Partitioning::kByDevice;
  OnGap on_gap = OnGap::kStop;
  std::map<std::string, std::string> properties;  // librdkafka's, passed through
};

struct ReadingConfig {
  ReadingShape shape;
  std::uint32_t max_metrics = kMaxMetricsPerWindow;  // of a device and hour
  bool deduplicate = true;
};

struct StateConfig {
  std::string dir = "state";
  std::int64_t checkpoint_ms = 60'000;
  std::int64_t retention_ms = 48 * kHourMs;
  std::uint64_t memory_bytes = 1ULL << 30;
};

struct SinkConfig {
  SinkType type = SinkType::kHbase;
  std::string address = "127.0.0.1:9090";
  std::string table = "rollups";
  std::string dir = "rollups";                         // embedded
  std::optional<std::int64_t> ttl_s = 730LL * 86'400;  // nullopt: forever
  // "auto" is worked out from the topic's retention; nullopt inside: forever.
  bool contribution_ttl_auto = true;
  std::optional<std::int64_t> contribution_ttl_s;
  std::uint32_t buckets = 32;
  RowLayout layout = RowLayout::kWide;
  bool date_tiered = false;
  ThriftTransport transport = ThriftTransport::kBuffered;
  ThriftProtocol protocol = ThriftProtocol::kBinary;
  std::uint32_t connections = 4;
  std::int64_t timeout_ms = 60'000;  // of one call; keep it above the Thrift server's own operation timeout
};

struct EmitConfig {
  std::int64_t refresh_ms = 60'000;
  std::int64_t late_delay_ms = 5'000;
};

struct SideConfig {  // a topic, or "file:DIR"; empty: <topic>.dlq, .quarantine, .archive
  std::string dead_letter;
  std::string quarantine;
  std::string archive;
};

struct HttpConfig {
  std::string listen = "127.0.0.1:9464";  // empty: no server
};

struct Config {
  KafkaConfig kafka;
  ReadingConfig reading;
  ArrivalPolicy policy;
  StateConfig state;
  SinkConfig sink;
  EmitConfig emit;
  SideConfig side;
  HttpConfig http;
  std::uint32_t workers = 0;                 // threads that fold; 0: one a core
  std::int64_t startup_timeout_ms = 30'000;  // how long a missing server or topic is waited for at start
};

// How the values of ${VAR} and ${file:PATH} are looked up; the application passes the real ones.
struct SecretLookup {
  std::function<std::optional<std::string>(const std::string&)> variable;
  std::function<std::optional<std::string>(const std::string&)> file;
};

// overrides: "sink.table=x" as given with --set, applied over the text; the value is JSON, or else taken as a
// string. require_kafka: brokers and topics must be there (`fold` needs neither).
Result<Config> parse_config(std::string_view text, std::string_view name,
                            const std::vector<std::string>& overrides, const SecretLookup& secrets,
                            bool require_kafka);

// "90s", "5m", "48h", "29d", "500ms" or 0. Empty if it is no duration.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);
std::string format_duration(std::int64_t ms);
// "64MiB", "1GiB", "500kB", or plain bytes.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// Names the semantics under which cells are made: 16 hex digits over the version of the rules, `reading` and
// `policy`.
std::string semantics_fingerprint(const Config& config);

}  // namespace hourfold
