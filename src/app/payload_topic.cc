// Samples from the topic.
#include <algorithm>
#include <map>
#include <utility>

#include "app/assemble.h"
#include "app/log_facts.h"
#include "app/payload_samples.h"
#include "app/startup_wait.h"
#include "kafka/log_reader.h"

namespace hourfold {
namespace {

LogBounds wanted_of(const LogBounds& bounds, const PayloadTryOptions& options) {
  LogBounds wanted = bounds;
  if (options.last > 0)
    wanted.first.value =
        std::max(bounds.first.value, bounds.end.value - static_cast<std::int64_t>(options.last));
  if (options.first > 0)
    wanted.end.value =
        std::min(bounds.end.value, bounds.first.value + static_cast<std::int64_t>(options.first));
  return wanted;
}

PayloadSample sample_of(const std::string& topic, PartitionId partition, const Record& record) {
  PayloadSample sample;
  sample.name =
      topic + "/" + std::to_string(partition.value) + ", offset " + std::to_string(record.offset.value);
  sample.record.timestamp_ms = record.timestamp_ms;
  if (record.key) sample.record.key = std::string(*record.key);
  if (record.value) sample.record.value = std::string(*record.value);
  if (record.headers) sample.record.headers = *record.headers;
  return sample;
}

Result<void> read_topic(LogReader& reader, const std::string& topic, const PayloadTryOptions& options,
                        std::vector<PayloadSample>& out) {
  const auto bounds = bounds_of_all(reader);
  if (!bounds) return bounds.error();
  std::map<PartitionId, LogBounds> ranges;
  for (const auto& [partition, whole] : *bounds) {
    const LogBounds wanted = wanted_of(whole, options);
    if (wanted.first < wanted.end) ranges[partition] = wanted;
  }
  if (ranges.empty()) return {};
  return read_all(
      reader, ranges, [] { return false; },
      [&](const RecordBatch& batch) -> Result<void> {
        for (const Record& record : batch.records) out.push_back(sample_of(topic, batch.partition, record));
        return {};
      });
}

}  // namespace

Result<std::vector<PayloadSample>> samples_of_topic(const PayloadTryOptions& options, const Config& config) {
  std::vector<PayloadSample> samples;
  for (const std::string& topic : config.kafka.topics) {
    auto reader = LogReader::create(
        {{config.kafka.brokers, config.kafka.properties, nullptr}, topic, config.kafka.group});
    if (!reader) return refused(reader.error().message);
    const StartupWait wait{system_clock(), config.startup_timeout_ms, [](char, const std::string&) {}};
    auto ready = until_ready(wait, "the topic", [&]() -> Result<void> {
      auto count = (*reader)->partition_count();
      return count ? Result<void>() : Result<void>(count.error());
    });
    if (!ready) return unavailable(ready.error().message);
    if (auto read = read_topic(**reader, topic, options, samples); !read) return read.error();
  }
  std::stable_sort(samples.begin(), samples.end(), [](const PayloadSample& a, const PayloadSample& b) {
    return a.record.timestamp_ms < b.record.timestamp_ms;
  });
  const std::size_t most = std::max(options.first, options.last);
  if (options.last > 0 && samples.size() > most)
    samples.erase(samples.begin(), samples.end() - static_cast<std::ptrdiff_t>(most));
  if (samples.size() > most) samples.resize(most);
  return samples;
}

}  // namespace hourfold
