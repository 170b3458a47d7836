#include "app/open_table.h"

#include <map>
#include <string>
#include <utility>

#include "embedded/embedded_table.h"
#include "hbase/hbase_table.h"
#include "kafka/topic_settings.h"

namespace hourfold {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;

EmbeddedTable::Access embedded_access(TableAccess access) {
  switch (access) {
    case TableAccess::kReadOnly:
      return EmbeddedTable::Access::kReadOnly;
    case TableAccess::kExisting:
      return EmbeddedTable::Access::kExisting;
    case TableAccess::kWrite:
      return EmbeddedTable::Access::kWrite;
  }
  return EmbeddedTable::Access::kReadOnly;
}

// Result<unique_ptr<Adapter>> as one of the interface.
template <class Adapter>
Result<std::unique_ptr<RollupTable>> as_table(Result<std::unique_ptr<Adapter>> made) {
  if (!made) return made.error();
  return std::unique_ptr<RollupTable>(std::move(*made));
}

bool keeps_everything(const TopicSettings& topic) {
  return !topic.retention_ms || topic.cleanup_policy.find("delete") == std::string::npos;
}

std::int64_t ceil_seconds(std::int64_t ms) { return (ms + 999) / 1000; }

Error cannot_ask(const Config& config, const Error& error) {
  return {error.kind, "the broker at " + config.kafka.brokers + " is asked for the retention of topic " +
                          config.kafka.topics.front() +
                          ", which the lifetimes of the table have to cover: " + error.message};
}

// How long after its hour a reading can still come from the log.
struct Reach {
  bool known = true;                    // false: the broker does not tell
  std::optional<std::int64_t> seconds;  // nullopt: for ever
};

Result<Reach> reach_of(const Config& config) {
  auto topics = KafkaTopics::create({config.kafka.brokers, config.kafka.properties, nullptr});
  if (!topics) return topics.error();
  // A broker that is not there is told from a topic that is not by the first question only.
  const std::string& name = config.kafka.topics.front();
  if (auto partitions = (*topics)->partition_count(name); !partitions)
    return cannot_ask(config, partitions.error());
  const auto topic = (*topics)->settings(name);
  if (!topic && topic.error().kind == ErrorKind::kRefused) return Reach{false, std::nullopt};
  if (!topic) return cannot_ask(config, topic.error());
  if (keeps_everything(*topic)) return Reach{};
  return Reach{true, ceil_seconds(*topic->retention_ms) + ceil_seconds(config.policy.max_age_ms)};
}

bool covers(std::optional<std::int64_t> ttl_s, const Reach& reach, std::int64_t more_s) {
  return !ttl_s || !reach.known || (reach.seconds && *ttl_s >= *reach.seconds + more_s);
}

std::string days_text(std::int64_t seconds) { return format_duration(seconds * 1000); }

std::string reach_text(const Config& config, const Reach& reach) {
  const std::string topic = "topic " + config.kafka.topics.front();
  if (!reach.seconds) return topic + " keeps its readings for ever";
  return "readings of " + topic + " reach back " + days_text(*reach.seconds) +
         " (its retention + policy.max_age)";
}

}  // namespace

std::string table_name(const SinkConfig& sink) {
  return sink.type == SinkType::kHbase ? "table '" + sink.table + "' at " + sink.address
                                       : "embedded table in " + sink.dir;
}

Result<std::unique_ptr<RollupTable>> open_table(const SinkConfig& sink, TableAccess access,
                                                const TableSpec& spec,
                                                std::function<void(std::string_view)> notice) {
  if (sink.type == SinkType::kHbase) return as_table(HbaseTable::make(sink, std::move(notice)));
  EmbeddedOptions options;
  options.dir = sink.dir;
  return as_table(EmbeddedTable::open(options, embedded_access(access), spec));
}

Result<TableSpec> table_spec(const Config& config, std::vector<std::string>& notes) {
  TableSpec spec;
  spec.buckets = config.sink.buckets;
  spec.layout = config.sink.layout;
  spec.rollup_ttl_s = config.sink.ttl_s;
  spec.contribution_ttl_s = config.sink.contribution_ttl_s;
  spec.date_tiered = config.sink.date_tiered;
  if (config.sink.type == SinkType::kEmbedded) return spec;
  const bool follows_topic = config.sink.contribution_ttl_auto;
  if (config.kafka.brokers.empty() || config.kafka.topics.empty()) {
    if (!follows_topic) return spec;
    return fatal(
        "sink.contribution_ttl \"auto\" follows the retention of the topic: give kafka.brokers and "
        "kafka.topics, or set "
        "sink.contribution_ttl to \"forever\", or to at least the topic's retention + policy.max_age + 1 "
        "day");
  }
  if (!follows_topic && !spec.contribution_ttl_s && !spec.rollup_ttl_s) return spec;
  auto reach = reach_of(config);
  if (!reach) return reach.error();
  if (follows_topic && reach->seconds) spec.contribution_ttl_s = *reach->seconds + kDaySeconds;
  if (!covers(spec.contribution_ttl_s, *reach, kDaySeconds)) {
    return refused("sink.contribution_ttl is " + days_text(*spec.contribution_ttl_s) + ", but " +
                   reach_text(config, *reach) + ": late readings would begin hours anew. Set it to " +
                   (reach->seconds ? "at least " + days_text(*reach->seconds + kDaySeconds)
                                   : std::string("\"forever\"")) +
                   ", or to \"auto\"");
  }
  if (!covers(spec.rollup_ttl_s, *reach, 0)) {
    notes.push_back("sink.ttl is " + days_text(*spec.rollup_ttl_s) + ", and " + reach_text(config, *reach) +
                    ": hours older than that are written and never seen. \"forever\" keeps all of them");
  }
  return spec;
}

Result<TableMeta> read_table_meta(RollupTable& table) {
  auto row = table.get(std::string(meta_row_key()));
  if (!row) return row.error();
  if (!*row)
    return fatal(
        "the table has no row that says how it is made: it is empty of it, or not Hourfold's; see `hourfold "
        "table check`");
  std::map<std::string, std::string> texts;
  for (const StoredCell& cell : (*row)->cells) {
    if (cell.family == 'm') texts[cell.qualifier] = cell.value;
  }
  const auto meta = read_description(texts);
  if (!meta)
    return fatal(
        "the table's own description (row 0xff 'hourfold') cannot be read; see `hourfold table check`");
  if (meta->version > kTableVersion) {
    return fatal("the table is of format " + std::to_string(meta->version) +
                 ", this program knows formats up to " + std::to_string(kTableVersion) +
                 ": use a newer hourfold");
  }
  return *meta;
}

}  // namespace hourfold
