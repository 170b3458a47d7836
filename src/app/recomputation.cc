#include "app/recomputation.h"

#include <limits>
#include <utility>

#include "app/worker_settings.h"
#include "state/rocksdb_store.h"

namespace hourfold {
namespace {

constexpr std::size_t kSeenAtOnce = 2'000;

// An end that is never reached: everything is held back.
StartPlan plan_from(Offset first) {
  StartPlan plan;
  plan.marks.next_offset = first;
  plan.marks.rebuild.emplace().end = {std::numeric_limits<std::int64_t>::max()};
  return plan;
}

}  // namespace

Result<std::unique_ptr<Recomputation>> Recomputation::open(const Config& config, const std::string& scratch,
                                                           const std::map<PartitionId, LogBounds>& ranges,
                                                           std::int32_t partition_count, const Clock& clock,
                                                           AvroSchemas* schemas) {
  std::unique_ptr<Recomputation> made(new Recomputation(clock));
  auto stores = make_rocksdb_stores(
      {scratch, "recomputed", config.kafka.topics.front(), config.state.memory_bytes / 2});
  if (!stores) return stores.error();
  made->stores_ = std::move(*stores);
  for (const auto& [id, range] : ranges) {
    Partition& partition = made->partitions_[id];
    std::string notice;
    auto store = made->stores_->open(id, notice);
    if (!store) return store.error();
    partition.store = std::move(*store);
    auto worker =
        PartitionWorker::open(worker_settings(config, id, partition_count, schemas), plan_from(range.first),
                              *partition.store, partition.sink, partition.side, clock.now_ms());
    if (!worker) return worker.error();
    partition.worker = std::move(*worker);
  }
  return made;
}

Result<void> Recomputation::fold(const RecordBatch& batch) {
  PartitionWorker& worker = *partitions_.at(batch.partition).worker;
  const EpochMs now = clock_.now_ms();
  if (auto folded = worker.fold(batch, now); !folded) return folded;
  if (auto stepped = worker.step(now); !stepped) return stepped;
  return worker.full() ? worker.checkpoint(now) : Result<void>();
}

Result<void> Recomputation::finish() {
  for (auto& [id, partition] : partitions_) {
    if (auto written = partition.worker->checkpoint(clock_.now_ms()); !written) return written;
    CounterTotals own = CounterTotals::of(partition.worker->counters());
    own.retire();
    totals_ += own;
    partition.worker.reset();
  }
  return {};
}

Result<std::optional<std::string>> Recomputation::find(PartitionId partition, HourStart hour,
                                                       std::string_view device) const {
  const auto at = partitions_.find(partition);
  if (at == partitions_.end()) return std::optional<std::string>();
  return at->second.store->find(hour, device);
}

Result<void> Recomputation::mark_seen(PartitionId partition, HourStart hour, std::string_view device) {
  Partition& of = partitions_.at(partition);
  of.seen.windows.push_back({hour, std::string(device), ""});
  return of.seen.windows.size() >= kSeenAtOnce ? write_seen(of) : Result<void>();
}

Result<void> Recomputation::write_seen(Partition& partition) {
  return partition.store->apply(std::exchange(partition.seen, StateChanges()));
}

Result<void> Recomputation::each_unseen(
    PartitionId partition, const std::function<void(HourStart, std::string_view, std::string_view)>& visit) {
  Partition& of = partitions_.at(partition);
  if (auto written = write_seen(of); !written) return written;
  return of.store->each_window([&](HourStart hour, std::string_view device, std::string_view value) {
    if (!value.empty()) visit(hour, device, value);
  });
}

}  // namespace hourfold
