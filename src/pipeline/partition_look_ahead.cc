// What a worker does for its next records before it folds the first of them.
#include <array>

#include "pipeline/partition_worker.h"

namespace hourfold {

void PartitionWorker::look_ahead(std::span<const Record> records) {
  // Each parser keeps memory of the size of its largest record.
  constexpr std::size_t kMaxBytesAhead = 16 << 10;
  std::array<WindowTable::Upcoming, kAhead> upcoming;
  std::size_t count = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    parsed_ahead_[i] = nullptr;
    if (record.offset < marks_.next_offset || !record.value || record.value->size() > kMaxBytesAhead)
      continue;
    const ParsedRecord& parsed = parse(record, i);
    parsed_ahead_[i] = &parsed;
    const ParsedReading& first = parsed.readings.front();
    if (first.metric_count != 0) upcoming[count++] = {first.device, HourStart::of(first.event_ms)};
  }
  windows_.prefetch({upcoming.data(), count});
}

const ParsedRecord& PartitionWorker::parse(const Record& record, std::size_t parser) {
  return parsers_[parser]->parse({*record.value, record.key, record.timestamp_ms, record.headers.get()});
}

}  // namespace hourfold
