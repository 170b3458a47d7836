// One partition worker with ports that the test answers by hand, for histories of a few steps.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/partition_worker.h"
#include "support/fake_ports.h"
#include "support/windows.h"

namespace hourfold::test {

inline constexpr HourStart kBenchHour{1'767'222'000'000};

class WorkerBench {
 public:
  WorkerSettings settings;
  FakeSink sink;
  FakeSide side;
  MemoryStores stores;
  std::unique_ptr<WindowStore> store = open_store(stores);
  std::unique_ptr<PartitionWorker> worker;
  EpochMs now = kBenchHour.ms + 30 * 60'000;

  WorkerBench() {
    settings.topic = "t";
    settings.buckets = 1;
  }

  static StartPlan plan_with(std::int64_t next, HourStart look_below) {
    StartPlan plan;
    plan.marks.next_offset = {next};
    plan.marks.look_below = look_below;
    plan.marks.hours = HourTrack(look_below);
    plan.floor = Offset{next};
    return plan;
  }
  void start() { start(StartPlan()); }
  void start(StartPlan plan) {
    auto opened = PartitionWorker::open(settings, std::move(plan), *store, sink, side, now);
    HF_CHECK(opened);
    worker = std::move(*opened);
  }
  // As after a clean end: the disk stays.
  void restart() {
    HF_CHECK(worker->checkpoint(now));
    worker.reset();
    store.reset();
    sink = {};
    side = {};
    store = open_store(stores);
    StartPlan plan;
    plan.state = StartPlan::State::kKeep;
    plan.marks = *read_state_marks(**store->marks());
    start(std::move(plan));
  }

  Result<void> read(std::int64_t offset, std::optional<std::string> value,
                    std::optional<EpochMs> timestamp = std::nullopt, std::string key = "d1") {
    Record record;
    record.offset = {offset};
    record.timestamp_ms = timestamp.value_or(now);
    record.key = key;
    if (value) record.value = *value;
    RecordBatch batch;
    batch.records.push_back(record);
    return worker->fold(batch, now);
  }
  // The log goes on to this offset without a record.
  Result<void> read_to(std::int64_t offset) {
    RecordBatch batch;
    batch.read_to = Offset{offset};
    return worker->fold(batch, now);
  }
  // {"device":"d1","ts":<in the hour>,"metrics":{"a":<value>}}
  static std::string reading(EpochMs in_hour, double value, const std::string& device = "d1") {
    return "{\"device\":\"" + device + "\",\"ts\":" + std::to_string(kBenchHour.ms + in_hour) +
           ",\"metrics\":{\"a\":" + std::to_string(value) + "}}";
  }
  void step(EpochMs later = 0) {
    now += later;
    HF_CHECK(worker->step(now));
  }
  // Everything due goes and lands.
  void settle() {
    for (int i = 0; i < 10; ++i) {
      worker->hurry();
      step(1'000);
      for (const auto& put : sink.puts) {
        for (const RowPut& row : put.rows) landed.push_back(row);
      }
      sink.answer_puts({});
      sink.find_nothing();
      side.acknowledge_all();
    }
  }
  std::int64_t committable() const {
    const auto due = worker->commit_due();
    return due ? due->next.value : -1;
  }

  std::vector<RowPut> landed;
};

// The last cells that landed of a device's row.
inline Rollup last_rollup(const WorkerBench& bench) {
  REQUIRE_FALSE(bench.landed.empty());
  const RowPut& put = bench.landed.back();
  Rollup rollup;
  for (std::size_t i = 0; i < put.cell_count(); ++i) {
    std::string_view metric;
    (void)read_rollup_cell(put.cell(i).qualifier, put.cell(i).value, RowLayout::kWide, metric, rollup);
  }
  return rollup;
}

inline std::string contribution_in(const RowPut& put) {
  return std::string(put.cell(put.cell_count() - 1).value);
}

inline RowLookup found(std::string contribution, std::int64_t timestamp) {
  RowLookup row;
  row.contribution = StoredCell{'s', "t/0", std::move(contribution), timestamp};
  return row;
}

}  // namespace hourfold::test
