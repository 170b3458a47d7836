#include "app/log_facts.h"

#include <chrono>

#include "app/open_schemas.h"
#include "payload/payload_parser.h"

namespace hourfold {
namespace {

constexpr std::int64_t kPatienceMs = 60'000;
constexpr int kPollMs = 200;

std::optional<EpochMs> first_arrival(const RecordBatch& batch, PayloadParser& parser) {
  for (const Record& record : batch.records) {
    if (!record.value) continue;
    const ParsedRecord& parsed =
        parser.parse({*record.value, record.key, record.timestamp_ms, record.headers.get()});
    for (const ParsedReading& reading : parsed.readings) {
      if (reading.malformed == Malformed::kNone) return reading.arrival_ms;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::map<PartitionId, LogBounds>> bounds_of_all(LogReader& reader) {
  auto count = reader.partition_count();
  if (!count) return count.error();
  std::map<PartitionId, LogBounds> all;
  for (std::int32_t i = 0; i < *count; ++i) {
    auto bounds = reader.bounds({i});
    if (!bounds) return bounds.error();
    all.emplace(PartitionId{i}, *bounds);
  }
  return all;
}

Result<void> read_all(LogReader& reader, const std::map<PartitionId, LogBounds>& ranges,
                      const std::function<bool()>& stopped,
                      const std::function<Result<void>(const RecordBatch&)>& on_batch) {
  if (auto started = reader.start(ranges); !started) return started;
  auto last = std::chrono::steady_clock::now();
  std::vector<RecordBatch> batches;
  while (!reader.done()) {
    if (stopped()) return unavailable("stopped");
    batches.clear();
    if (auto polled = reader.poll(kPollMs, batches); !polled) return polled;
    for (const RecordBatch& batch : batches) {
      if (auto taken = on_batch(batch); !taken) return taken;
    }
    if (!batches.empty()) last = std::chrono::steady_clock::now();
    if (std::chrono::steady_clock::now() - last > std::chrono::milliseconds(kPatienceMs)) {
      const std::string reason = reader.last_error();
      return unavailable("kafka: no records came for " + format_duration(kPatienceMs) +
                         (reason.empty() ? "" : " (" + reason + ")"));
    }
  }
  return {};
}

Result<std::map<PartitionId, EpochMs>> first_arrivals(LogReader& reader,
                                                      const std::map<PartitionId, LogBounds>& ranges,
                                                      const ReadingConfig& reading, AvroSchemas* schemas,
                                                      const std::function<bool()>& stopped) {
  const auto parser = make_payload_parser(reading.shape, schemas);
  std::map<PartitionId, EpochMs> arrivals;
  auto read = read_all(reader, ranges, stopped, [&](const RecordBatch& batch) -> Result<void> {
    if (arrivals.contains(batch.partition)) return {};
    if (auto known = wait_for_schemas(schemas, schema_ids(batch), stopped); !known) return known;
    if (const auto arrival = first_arrival(batch, *parser)) {
      arrivals.emplace(batch.partition, *arrival);
      reader.finish(batch.partition);
    }
    return {};
  });
  if (!read) return read.error();
  return arrivals;
}

}  // namespace hourfold
