#include "app/assemble.h"

#include <array>
#include <chrono>
#include <map>

#include "app/file_limit.h"
#include "app/open_schemas.h"
#include "app/open_table.h"
#include "app/startup_wait.h"
#include "embedded/file_side_output.h"
#include "kafka/kafka_side_output.h"
#include "kafka/kafka_source.h"
#include "kafka/topic_settings.h"
#include "ports/side_router.h"
#include "state/rocksdb_store.h"

namespace hourfold {
namespace {

constexpr std::string_view kFilePrefix = "file:";

class SystemClock final : public Clock {
 public:
  EpochMs now_ms() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  std::int64_t steady_ms() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

KafkaLog kafka_log(const LogLine& log) {
  return [log](int severity, std::string_view text) {
    // What of it matters to an operator the service says itself, once; librdkafka repeats it every second.
    log(severity <= 2 ? 'w' : 'd', "kafka client: " + std::string(text));
  };
}

Result<std::unique_ptr<SideOutputs>> make_side_outputs(const Config& config,
                                                       const KafkaClientOptions& client) {
  const std::array<std::pair<SideChannel, const std::string*>, SideRouter::kChannels> targets = {
      {{SideChannel::kDeadLetter, &config.side.dead_letter},
       {SideChannel::kQuarantine, &config.side.quarantine},
       {SideChannel::kArchive, &config.side.archive}}};
  KafkaSideOptions kafka{client, {}};
  for (const auto& [channel, target] : targets) {
    if (!target->starts_with(kFilePrefix)) kafka.topics.emplace(channel, *target);
  }
  std::shared_ptr<SideOutputs> topics;
  if (!kafka.topics.empty()) {
    auto made = KafkaSideOutputs::create(kafka);
    if (!made) return made.error();
    topics = std::move(*made);
  }
  std::map<std::string, std::shared_ptr<SideOutputs>> folders;
  std::array<std::shared_ptr<SideOutputs>, SideRouter::kChannels> by_channel;
  for (const auto& [channel, target] : targets) {
    std::shared_ptr<SideOutputs>& chosen = by_channel.at(static_cast<std::size_t>(channel));
    if (!target->starts_with(kFilePrefix)) {
      chosen = topics;
      continue;
    }
    std::shared_ptr<SideOutputs>& folder = folders[*target];
    if (!folder) folder = make_file_side_outputs(target->substr(kFilePrefix.size()));
    chosen = folder;
  }
  return std::unique_ptr<SideOutputs>(std::make_unique<SideRouter>(std::move(by_channel)));
}

// The broker may be away still: then as for a topic of one partition.
int files_per_store(const Config& config, const KafkaClientOptions& client, const LogLine& log) {
  constexpr std::uint64_t kConnectionsAndLogs = 256;
  constexpr std::uint64_t kEmbeddedTable = 768;
  std::uint64_t partitions = 1;
  if (const auto topics = KafkaTopics::create(client)) {
    if (const auto count = (*topics)->partition_count(config.kafka.topics.front()))
      partitions = static_cast<std::uint64_t>(*count);
  }
  const bool embedded = config.sink.type == SinkType::kEmbedded;
  const FileShare files =
      share_files(raise_file_limit(), kConnectionsAndLogs + (embedded ? kEmbeddedTable : 0), partitions);
  if (!files.warning.empty()) log('w', files.warning);
  return files.per_store;
}

Result<void> open_named_table(const Config& config, const LogLine& log, ServiceParts& parts) {
  std::vector<std::string> notes;
  auto spec = table_spec(config, notes);
  if (!spec) return spec.error();
  for (const std::string& note : notes) log('w', "table: " + note);
  auto table = open_table(config.sink, TableAccess::kWrite, *spec,
                          [log](std::string_view text) { log('i', std::string(text)); });
  if (!table) return table.error();
  parts.table_spec = *spec;
  parts.table = std::move(*table);
  return {};
}

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

Result<ServiceParts> assemble(const Config& config, const Clock& clock, LogLine log) {
  const KafkaClientOptions client{config.kafka.brokers, config.kafka.properties, kafka_log(log)};
  ServiceParts parts;
  parts.config = config;
  parts.clock = &clock;
  auto source = KafkaSource::create({client, config.kafka.topics.front(), config.kafka.group});
  if (!source) return refused(source.error().message);
  parts.source = std::move(*source);
  auto stores =
      make_rocksdb_stores({config.state.dir, config.kafka.group, config.kafka.topics.front(),
                           config.state.memory_bytes / 2, nullptr, files_per_store(config, client, log)});
  if (!stores) return refused("state.dir: " + stores.error().message);
  parts.stores = std::move(*stores);
  auto side = make_side_outputs(config, client);
  if (!side) return refused(side.error().message);
  parts.side = std::move(*side);
  auto schemas = open_schemas(config.reading.shape, log);
  if (!schemas) return schemas.error();
  parts.schemas = std::move(*schemas);
  const StartupWait wait{clock, config.startup_timeout_ms, log};
  auto opened = until_ready(wait, "the table", [&] { return open_named_table(config, log, parts); });
  if (!opened) return opened.error();
  parts.log = std::move(log);
  return parts;
}

}  // namespace hourfold
