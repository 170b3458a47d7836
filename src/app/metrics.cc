#include "app/metrics.h"

#include <string>

namespace hourfold {
namespace {

// Plain counters and gauges, one series per partition.
struct Plain {
  const char* name;
  const char* help;
  MetricType type;
  std::uint64_t CounterTotals::*member;
};
constexpr Plain kPlain[] = {
    {"hourfold_records_total", "Records read from the topic, tombstones included", MetricType::kCounter,
     &CounterTotals::records},
    {"hourfold_record_bytes_total", "Bytes of keys and values read", MetricType::kCounter,
     &CounterTotals::bytes},
    {"hourfold_tombstones_total", "Records with a null value, skipped", MetricType::kCounter,
     &CounterTotals::tombstones},
    {"hourfold_readings_consumed_total",
     "Readings in those records; the sum of all results and of those waiting", MetricType::kCounter,
     &CounterTotals::consumed},
    {"hourfold_readings_waiting", "Readings that wait for a look-up of their window in the table",
     MetricType::kGauge, &CounterTotals::waiting},
    {"hourfold_readings_handed_over_total",
     "Readings that still waited when their partition left this process", MetricType::kCounter,
     &CounterTotals::handed_over},
    {"hourfold_conflicts_total", "Duplicates whose value was provably another one", MetricType::kCounter,
     &CounterTotals::conflicts},
    {"hourfold_duplicate_values_total", "Single metric values left out as duplicates", MetricType::kCounter,
     &CounterTotals::duplicate_values},
    {"hourfold_windows_opened_total", "Device-hours begun", MetricType::kCounter,
     &CounterTotals::windows_opened},
    {"hourfold_windows_expired_total", "Device-hours that left memory after state.retention",
     MetricType::kCounter, &CounterTotals::windows_expired},
    {"hourfold_windows_in_memory", "Device-hours known in memory", MetricType::kGauge,
     &CounterTotals::windows_in_memory},
    {"hourfold_window_bytes", "Estimated memory of the device-hours loaded", MetricType::kGauge,
     &CounterTotals::window_bytes},
    {"hourfold_outbox_windows", "Device-hours with changes that the table has not acknowledged",
     MetricType::kGauge, &CounterTotals::outbox},
    {"hourfold_unproven_acknowledgements",
     "Puts acknowledged that count once the topic is known not to have grown", MetricType::kGauge,
     &CounterTotals::unproven},
    {"hourfold_side_records_unacknowledged", "Side records that their topic has not acknowledged",
     MetricType::kGauge, &CounterTotals::side_unacknowledged},
    {"hourfold_side_records_reduced_total",
     "Side records written without value, key, headers or timestamp that their topic did not take",
     MetricType::kCounter, &CounterTotals::side_reduced},
    {"hourfold_side_records_refused_total", "Side records that their topic took in no form; see the log",
     MetricType::kCounter, &CounterTotals::side_refused},
    {"hourfold_rows_put_total", "Rows acknowledged by the table", MetricType::kCounter,
     &CounterTotals::rows_put},
    {"hourfold_cells_put_total", "Cells acknowledged by the table", MetricType::kCounter,
     &CounterTotals::cells_put},
    {"hourfold_put_batches_total", "Batches of Puts sent", MetricType::kCounter, &CounterTotals::put_batches},
    {"hourfold_rows_refused_total", "Rows that the table refused for good; see the dead letters",
     MetricType::kCounter, &CounterTotals::rows_refused},
    {"hourfold_refused_windows", "Device-hours that the table refused and that wait for their next change",
     MetricType::kGauge, &CounterTotals::refused_kept},
    {"hourfold_refused_windows_released_total",
     "Device-hours that the table refused and that are no longer kept for a change", MetricType::kCounter,
     &CounterTotals::refused_released},
    {"hourfold_look_ups_total", "Rows looked up in the table", MetricType::kCounter,
     &CounterTotals::look_ups},
    {"hourfold_look_up_failures_total", "Look-up batches that failed and were tried again",
     MetricType::kCounter, &CounterTotals::look_up_failures},
    {"hourfold_lost_ranges",
     "Ranges of the log that were lost before they were read, as the state records them", MetricType::kGauge,
     &CounterTotals::lost_ranges},
    {"hourfold_lost_offsets", "Offsets in those ranges", MetricType::kGauge, &CounterTotals::lost_offsets},
    {"hourfold_rule_changes", "Changes of reading or policy between starts, as the state records them",
     MetricType::kGauge, &CounterTotals::rule_changes},
    {"hourfold_checkpoints_total", "Checkpoints of the state", MetricType::kCounter,
     &CounterTotals::checkpoints},
    {"hourfold_checkpoint_us_max", "Longest pause of folding for a checkpoint, microseconds",
     MetricType::kGauge, &CounterTotals::checkpoint_us_max},
};

struct Outcome {
  const char* result;
  std::uint64_t CounterTotals::*member;
};
constexpr Outcome kOutcomes[] = {
    {"folded", &CounterTotals::folded},           {"duplicate", &CounterTotals::duplicate},
    {"quarantined", &CounterTotals::quarantined}, {"archived", &CounterTotals::archived},
    {"malformed", &CounterTotals::malformed},     {"already_counted", &CounterTotals::already_counted},
};

using Labels = std::vector<std::pair<std::string, std::string>>;

MetricSample sample(Labels labels, double value) {
  MetricSample one;
  one.labels = std::move(labels);
  one.value = value;
  return one;
}

MetricFamily readings_by_result(const std::map<std::int32_t, CounterTotals>& totals) {
  MetricFamily family{"hourfold_readings_total", "Readings by what became of them", MetricType::kCounter, {}};
  for (const auto& [partition, counters] : totals) {
    for (const Outcome& outcome : kOutcomes) {
      family.samples.push_back(sample({{"partition", std::to_string(partition)}, {"result", outcome.result}},
                                      static_cast<double>(counters.*outcome.member)));
    }
  }
  return family;
}

constexpr Outcome kPutFailures[] = {
    {"unavailable", &CounterTotals::put_unavailable},
    {"unknown", &CounterTotals::put_unknown},
    {"refused", &CounterTotals::put_refused},
};

MetricFamily put_failures(const std::map<std::int32_t, CounterTotals>& totals) {
  MetricFamily family{
      "hourfold_put_failures_total", "Batches of Puts that failed, by kind", MetricType::kCounter, {}};
  for (const auto& [partition, counters] : totals) {
    for (const Outcome& outcome : kPutFailures) {
      family.samples.push_back(sample({{"partition", std::to_string(partition)}, {"kind", outcome.result}},
                                      static_cast<double>(counters.*outcome.member)));
    }
  }
  return family;
}

MetricFamily malformed_by_reason(const CounterTotals& sum) {
  MetricFamily family{"hourfold_malformed_total", "Malformed readings by reason", MetricType::kCounter, {}};
  for (std::size_t i = 1; i < sum.malformed_by_reason.size(); ++i) {
    family.samples.push_back(sample({{"reason", std::string(to_string(static_cast<Malformed>(i)))}},
                                    static_cast<double>(sum.malformed_by_reason[i])));
  }
  family.samples.push_back(
      sample({{"reason", "contribution_full"}}, static_cast<double>(sum.dead_contribution_full)));
  family.samples.push_back(
      sample({{"reason", "contribution_missing"}}, static_cast<double>(sum.dead_contribution_missing)));
  return family;
}

MetricFamily rejected_metrics(const CounterTotals& sum) {
  MetricFamily family{
      "hourfold_rejected_metrics_total", "Metrics left out of readings by reason", MetricType::kCounter, {}};
  for (std::size_t i = 0; i < sum.rejected_metrics.size(); ++i) {
    family.samples.push_back(sample({{"reason", std::string(to_string(static_cast<MetricReject>(i)))}},
                                    static_cast<double>(sum.rejected_metrics[i])));
  }
  return family;
}

MetricFamily schema_fetches(const AvroSchemas::Fetches& fetches) {
  MetricFamily family{"hourfold_schema_fetches_total",
                      "Schemas asked of the registry, by what came of it",
                      MetricType::kCounter,
                      {}};
  for (const auto& [result, count] : {std::pair{"found", fetches.found}, std::pair{"none", fetches.none},
                                      std::pair{"failed", fetches.failed}})
    family.samples.push_back(sample({{"result", result}}, static_cast<double>(count)));
  return family;
}

void add_partitions(const Service::Status& status, std::vector<MetricFamily>& families) {
  MetricFamily lag{"hourfold_lag_records", "Records of the partition not read yet", MetricType::kGauge, {}};
  MetricFamily behind{"hourfold_uncommitted_records",
                      "Records read whose offset cannot be committed yet",
                      MetricType::kGauge,
                      {}};
  MetricFamily paused{"hourfold_partition_paused",
                      "1 while a local bound keeps the partition from being read",
                      MetricType::kGauge,
                      {}};
  for (const Service::PartitionStatus& partition : status.partitions) {
    const Labels labels = {{"partition", std::to_string(partition.partition.value)}};
    if (partition.end_offset) {
      lag.samples.push_back(sample(labels, static_cast<double>(std::max<std::int64_t>(
                                               0, *partition.end_offset - partition.next_offset))));
    }
    behind.samples.push_back(sample(labels, static_cast<double>(std::max<std::int64_t>(
                                                0, partition.next_offset - partition.needed_from))));
    paused.samples.push_back(sample(labels, partition.paused ? 1 : 0));
  }
  families.insert(families.end(), {lag, behind, paused});
  families.push_back({"hourfold_partitions_held",
                      "Partitions that this process folds",
                      MetricType::kGauge,
                      {sample({}, static_cast<double>(status.partitions.size()))}});
  families.push_back({"hourfold_partitions_waiting",
                      "Partitions that are ours and cannot be opened yet",
                      MetricType::kGauge,
                      {sample({}, static_cast<double>(status.waiting.size()))}});
}

}  // namespace

std::vector<MetricFamily> service_metrics(const Service& service, const PutLatency& put_latency) {
  const auto totals = service.totals_by_partition();
  CounterTotals sum;
  for (const auto& [partition, counters] : totals) sum += counters;
  std::vector<MetricFamily> families;
  for (const Plain& plain : kPlain) {
    MetricFamily family{plain.name, plain.help, plain.type, {}};
    for (const auto& [partition, counters] : totals) {
      family.samples.push_back(
          sample({{"partition", std::to_string(partition)}}, static_cast<double>(counters.*plain.member)));
    }
    families.push_back(std::move(family));
  }
  families.push_back(readings_by_result(totals));
  families.push_back(put_failures(totals));
  families.push_back(malformed_by_reason(sum));
  families.push_back(rejected_metrics(sum));
  add_partitions(service.status(), families);
  MetricFamily latency{
      "hourfold_put_seconds", "How long batches of Puts took, by outcome", MetricType::kHistogram, {}};
  for (const auto& [outcome, histogram] :
       {std::pair{"landed", &put_latency.landed}, std::pair{"failed", &put_latency.failed}}) {
    MetricSample& one = latency.samples.emplace_back();
    one.labels = {{"outcome", outcome}};
    one.histogram = histogram->value();
  }
  families.push_back(std::move(latency));
  if (const auto fetches = service.schema_fetches()) families.push_back(schema_fetches(*fetches));
  families.push_back({"hourfold_sink_queue",
                      "Calls to the table that wait for a connection",
                      MetricType::kGauge,
                      {sample({}, static_cast<double>(service.sink_queue()))}});
  return families;
}

}  // namespace hourfold
