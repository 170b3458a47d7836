// The threads that fold and the threads that write, with a table that fails now and then: what each partition
// was given ends up in the table, whichever thread has it, and its offsets reach the end. Meant for
// ThreadSanitizer as much as for its checks.
#include "app/worker_threads.h"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "app/sink_threads.h"
#include "support/fake_ports.h"

using namespace hourfold;

namespace {

constexpr int kPartitions = 4;
constexpr int kDevices = 16;
constexpr std::int64_t kReadings = 2'000;  // a partition
constexpr HourStart kHour{1'767'222'000'000};

// Runs at the pace of the real one, long after the hour.
class LaterClock final : public Clock {
 public:
  EpochMs now_ms() const override {
    const auto elapsed = std::chrono::steady_clock::now() - begin_;
    return kHour.ms + kHourMs + std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
  }
  std::int64_t steady_ms() const override { return now_ms(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Keeps the counts of rows. Every third batch fails, of those every other after it landed.
class CountingTable final : public RollupTable {
 public:
  Result<void> put(std::span<const RowPut> rows) override {
    const std::lock_guard lock(mutex_);
    const int call = calls_++;
    if (call % 6 == 2) return unavailable("away");
    for (const RowPut& row : rows) apply(row);
    if (call % 6 == 5) return unknown("answer lost");
    return {};
  }
  Result<std::vector<RowLookup>> look_up(std::span<const std::string> keys, std::string_view) override {
    return std::vector<RowLookup>(keys.size());
  }
  Result<std::vector<StoredRow>> read(std::span<const std::string>) override {
    return fatal("not asked for here");
  }
  Result<void> scan(const std::string&, const std::string&, bool,
                    const std::function<bool(const StoredRow&)>&) override {
    return fatal("not asked for here");
  }
  Result<std::optional<StoredRow>> get(const std::string&) override { return fatal("not asked for here"); }
  Result<bool> empty() override { return true; }
  Result<void> create(const TableSpec&) override { return fatal("not asked for here"); }
  Result<std::vector<TableFinding>> check(const TableSpec&) override { return std::vector<TableFinding>(); }

  std::map<std::string, std::int64_t> counts() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::int64_t> counts;
    for (const auto& [key, row] : rows_) counts[key] = row.second;
    return counts;
  }

 private:
  void apply(const RowPut& row) {
    auto& [timestamp, count] = rows_[row.key()];
    if (row.timestamp() < timestamp) return;
    timestamp = row.timestamp();
    for (std::size_t i = 0; i < row.cell_count(); ++i) {
      std::string_view metric;
      Rollup rollup;
      if (read_rollup_cell(row.cell(i).qualifier, row.cell(i).value, RowLayout::kPacked, metric, rollup))
        count = rollup.count;
    }
  }

  mutable std::mutex mutex_;
  int calls_ = 0;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> rows_;  // timestamp, count
};

std::string device_of(int partition, std::int64_t i) {
  return "p" + std::to_string(partition) + "d" + std::to_string(i % kDevices);
}

RecordBatch batch_of(int partition, std::int64_t from, std::int64_t to) {
  auto texts = std::make_shared<std::vector<std::string>>();
  texts->reserve(static_cast<std::size_t>(to - from));
  RecordBatch batch;
  batch.partition = {partition};
  for (std::int64_t i = from; i < to; ++i) {
    texts->push_back("{\"device\":\"" + device_of(partition, i) +
                     "\",\"ts\":" + std::to_string(kHour.ms + i) + ",\"metrics\":{\"a\":1}}");
    Record record;
    record.offset = {i};
    record.timestamp_ms = kHour.ms + kHourMs;
    record.value = texts->back();
    batch.records.push_back(record);
    batch.bytes += texts->back().size();
  }
  batch.memory = texts;
  return batch;
}

// One partition, which goes from thread to thread on one "disk".
struct Partition {
  explicit Partition(int number_) : number(number_) {}

  std::shared_ptr<PartitionTask> open(SinkThreads& sink, WorkerThread& thread) {
    PartitionTask::Parts parts;
    parts.partition = {number};
    std::string notice;
    auto store = stores.open({number}, notice);
    REQUIRE(store);
    parts.store = std::move(*store);
    parts.sink = sink.open([&thread] { thread.wake(); });
    parts.side = std::make_unique<test::FakeSide>();
    WorkerSettings settings;
    settings.topic = "t";
    settings.partition = {number};
    settings.layout = RowLayout::kPacked;
    settings.buckets = 4;
    StartPlan plan;
    plan.marks.look_below = HourStart::highest();  // the first readings of a device wait for a look-up
    auto marks = parts.store->marks();
    REQUIRE(marks);
    if (*marks) {
      plan.state = StartPlan::State::kKeep;
      plan.marks = *read_state_marks(**marks);
    }
    auto worker = PartitionWorker::open(settings, std::move(plan), *parts.store, *parts.sink, *parts.side,
                                        LaterClock().now_ms());
    REQUIRE(worker);
    parts.worker = std::move(*worker);
    return std::make_shared<PartitionTask>(std::move(parts));
  }

  int number;
  MemoryStores stores;
};

void wait_until(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

TEST_CASE("partitions move between threads under load and nothing is lost") {
  const LaterClock clock;
  CountingTable table;
  std::vector<std::unique_ptr<Partition>> partitions;
  for (int i = 0; i < kPartitions; ++i) partitions.push_back(std::make_unique<Partition>(i));
  SinkThreads sink(table, 3, [](double, bool) {});
  std::vector<std::unique_ptr<WorkerThread>> threads;
  for (unsigned i = 0; i < 2; ++i) threads.push_back(std::make_unique<WorkerThread>(clock, i));

  std::int64_t given = 0;
  for (std::size_t round = 0; round < 4; ++round) {
    const std::int64_t until = kReadings * static_cast<std::int64_t>(round + 1) / 4;
    std::vector<std::pair<std::shared_ptr<PartitionTask>, WorkerThread*>> open;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      WorkerThread& thread = *threads[(i + round) % threads.size()];
      open.emplace_back(partitions[i]->open(sink, thread), &thread);
      thread.add(open.back().first);
    }
    for (std::int64_t from = given; from < until; from += 100) {
      for (const auto& [task, thread] : open) {
        task->push(batch_of(task->partition().value, from, std::min(from + 100, until)));
        thread->wake();
        // What the metrics' thread does meanwhile.
        const CounterTotals totals = task->totals();
        CHECK(totals.records <= static_cast<std::uint64_t>(until - given));
        CHECK(totals.consumed == totals.folded + totals.duplicate + totals.quarantined + totals.archived +
                                     totals.malformed + totals.already_counted + totals.waiting);
        if (const auto commit = task->take_commit()) task->committed(commit->next);
      }
    }
    wait_until([&, this_many = static_cast<std::uint64_t>(until - given)] {
      return std::all_of(open.begin(), open.end(),
                         [&](const auto& one) { return one.first->counters().records.get() == this_many; });
    });
    const bool last = until == kReadings;
    if (last) {
      for (const auto& [task, thread] : open) {
        task->drain();
        thread->wake();
      }
      wait_until([&] {
        return std::all_of(open.begin(), open.end(), [](const auto& one) { return one.first->drained(); });
      });
    }
    for (const auto& [task, thread] : open) {
      const auto commit = thread->close(task);
      CHECK_FALSE(task->failure());
      if (last) {
        REQUIRE(commit);
        CHECK(commit->next == Offset{kReadings});
      }
    }
    given = until;
  }

  const auto counts = table.counts();
  CHECK(counts.size() == kPartitions * kDevices);
  for (int partition = 0; partition < kPartitions; ++partition) {
    for (int device = 0; device < kDevices; ++device) {
      const auto at = counts.find(row_key(device_of(partition, device), kHour, 4));
      REQUIRE(at != counts.end());
      CHECK(at->second == kReadings / kDevices);
    }
  }
  CHECK(sink.stop(std::chrono::seconds(10)));
}
