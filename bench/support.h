// What the micro benchmarks share: the readings of a fleet as bench/fill_topic.cc sends them, and a worker
// between ports that answer at once.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/null_ports.h"
#include "core/check.h"
#include "pipeline/partition_worker.h"
#include "pipeline/sink_queue.h"
#include "state/memory_store.h"

namespace hourfold::bench {

inline constexpr EpochMs kBegin = 1'767'225'600'000;

// 8 metrics, some 270 bytes.
inline std::string reading(std::int64_t device, EpochMs event_ms, std::int64_t sequence) {
  const double value = static_cast<double>((device * 7919 + sequence * 104729) % 1000) / 10.0;
  char body[640];
  std::snprintf(
      body, sizeof body,
      R"({"device":"dev-%08lld","ts":%lld,"seq":%lld,"fw":"4.2.1","metrics":{"temp_c":%.2f,"batt_v":%.3f,"humidity":%.1f,)"
      R"("pressure_hpa":%.2f,"rssi_dbm":%d,"co2_ppm":%d,"lux":%.1f,"vib_mm_s":%.4f},"site":"plant-%02d","tags":["line-%d","zone-%d"],)"
      R"("model":"TX-%d"})",
      static_cast<long long>(device), static_cast<long long>(event_ms), static_cast<long long>(sequence),
      18 + value / 10, 3.0 + value / 100, 40 + value / 5, 1000 + value / 7, -40 - static_cast<int>(value / 3),
      400 + static_cast<int>(value), value * 7.3, value / 977, static_cast<int>(device % 40),
      static_cast<int>(device % 7), static_cast<int>(device % 5), static_cast<int>(100 + device % 3));
  return body;
}

// Acknowledges everything and keeps nothing.
class OpenSink final : public SinkQueue {
 public:
  void put(Ticket ticket, std::vector<RowPut> rows, const std::optional<SharedRowRules>&) override {
    rows_ += rows.size();
    puts_.push_back({ticket, {}});
  }
  void look_up(Ticket ticket, std::vector<std::string> keys, const std::string&,
               const std::optional<SharedRowRules>&) override {
    look_ups_.push_back({ticket, std::vector<RowLookup>(keys.size())});
  }
  void take_answers(std::vector<PutAnswer>& puts, std::vector<LookUpAnswer>& look_ups) override {
    puts.insert(puts.end(), std::make_move_iterator(puts_.begin()), std::make_move_iterator(puts_.end()));
    look_ups.insert(look_ups.end(), std::make_move_iterator(look_ups_.begin()),
                    std::make_move_iterator(look_ups_.end()));
    puts_.clear();
    look_ups_.clear();
  }
  std::size_t rows() const { return rows_; }

 private:
  std::vector<PutAnswer> puts_;
  std::vector<LookUpAnswer> look_ups_;
  std::size_t rows_ = 0;
};

// A fleet that sends in turn, every device each interval.
class World {
 public:
  explicit World(std::int64_t devices, std::int64_t interval_ms = 10'000, bool deduplicate = true)
      : devices_(devices), interval_ms_(interval_ms) {
    std::string notice;
    auto store = stores_.open({0}, notice);
    HF_CHECK(store);
    store_ = std::move(*store);
    WorkerSettings settings;
    settings.topic = "bench";
    settings.deduplicate = deduplicate;
    settings.check_keys = true;
    settings.memory_bytes = std::size_t{64} << 30;
    settings.checkpoint_ms = 1LL << 40;
    auto worker = PartitionWorker::open(std::move(settings), StartPlan(), *store_, sink_, side_, kBegin);
    HF_CHECK(worker);
    worker_ = std::move(*worker);
  }

  // The next records of the fleet; their texts live as long as the batch.
  RecordBatch next(std::size_t count) {
    auto texts = std::make_shared<std::vector<std::pair<std::string, std::string>>>();
    texts->reserve(count);
    RecordBatch batch;
    batch.records.reserve(count);
    for (std::size_t i = 0; i < count; ++i, ++sent_) {
      const std::int64_t device = sent_ % devices_;
      const EpochMs event = kBegin + sent_ / devices_ * interval_ms_ + device * 37 % 1000;
      char key[32];
      std::snprintf(key, sizeof key, "dev-%08lld", static_cast<long long>(device));
      texts->emplace_back(key, reading(device, event, sent_ / devices_));
      Record& record = batch.records.emplace_back();
      record.offset = {sent_};
      record.timestamp_ms = event + 500;
      record.key = texts->back().first;
      record.value = texts->back().second;
    }
    batch.memory = std::move(texts);
    return batch;
  }

  void fold(const RecordBatch& batch) { HF_CHECK(worker_->fold(batch, kBegin)); }
  PartitionWorker& worker() { return *worker_; }
  OpenSink& sink() { return sink_; }

 private:
  std::int64_t devices_;
  std::int64_t interval_ms_;
  std::int64_t sent_ = 0;
  MemoryStores stores_;
  std::unique_ptr<WindowStore> store_;
  OpenSink sink_;
  NoSideOutput side_;
  std::unique_ptr<PartitionWorker> worker_;
};

}  // namespace hourfold::bench
