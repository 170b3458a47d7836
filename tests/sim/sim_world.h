// A topic's whole world in a test: partitions with logs that grow, hosts that take them from each other, a
// table, side topics, a group and a clock, all driven by one seed. The topic may gain partitions, or have
// readings of a device in several from the start. First anything may go wrong at any step;
// then the faults stop and everything must come out right.
//
// Monitors, each a kind of finding: see SimTable and SimNet; "unsafe": an offset was committed while a
// reading before it is neither in the table nor in a side topic; "metadata": a commit knows of too low a
// highest hour; "books": the counters do not add up; "stopped": a worker gave up; "stuck": it does not drain;
// "final": a cell, its timestamp or a side record differs from the recomputation.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contribution_codec.h"
#include "sim/sim_worker.h"

namespace hourfold::test {

// Drawn from the seed, so that every history has a temper of its own.
struct SimTemper {
  SimLogOptions log;
  std::size_t hosts = 2;
  int actions = 200;
  double disk_loss = 0;  // at a crash
  bool truncates = false;
  bool loses_metadata = false;
  bool poison = false;
  std::size_t partitions = 1;
  bool grows = false;
  double hearing = 1;  // how often an answer about the partitions arrives when it could
  bool any = false;    // rows are shared from the start
  bool brisk = false;  // hours pass with every few records
  double turmoil = 0;  // how often the world changes: owners, disks, servers
  double trouble = 1;  // share of requests to the table that meet with some
  WorkerSettings settings;

  static SimTemper draw(Random& random);
  void make_all_late(Random& random);
  void make_growing(Random& random);
};

class SimWorld {
 public:
  explicit SimWorld(std::uint64_t seed, bool trace = false)
      : random_(seed),
        trace_(trace),
        temper_(SimTemper::draw(random_)),
        table_(findings_),
        net_(random_, table_, findings_),
        several_(temper_.any) {
    for (std::size_t i = 0; i < temper_.partitions; ++i) add_partition();
    hosts_.resize(temper_.hosts);
    for (auto& host : hosts_) host = std::make_unique<SimHost>();
  }

  // Empty: all is well.
  const std::vector<std::string>& run() {
    net_.trouble = temper_.trouble;
    if (temper_.poison)
      net_.poison.insert(row_key("d0", HourStart::of(now_ + 2 * kHourMs), temper_.settings.buckets));
    for (const auto& partition : partitions_) take_over(*partition, 0);
    for (int i = 0; i < temper_.actions && findings_.empty(); ++i) act();
    if (findings_.empty()) drain();
    if (findings_.empty()) check_cells();
    if (findings_.empty()) check_sides();
    return findings_.all();
  }

 private:
  using Workers = std::vector<std::unique_ptr<SimWorker>>;

  void act();
  void act_on(SimWorker& worker);
  void act_on_world();
  void calm_moment();
  void say(const std::string& text) const {
    if (trace_) std::printf("%lld %s\n", static_cast<long long>((now_ - kSimStart) / 1000), text.c_str());
  }

  EpochMs wall() const { return now_ + skew_; }

  // Ownership.
  void add_partition();
  SimPartition& any_partition() { return *partitions_[random_.below(partitions_.size())]; }
  void take_over(SimPartition& partition, std::size_t host);
  bool start(SimWorker& worker);
  void start_process(SimHost& host, const SimPartition& partition);
  Result<StartPlan> plan(const SimPartition& partition, const WindowStore& store, std::size_t count) const;
  void end(SimWorker& worker, bool crash);
  void crash(std::size_t host);
  SimWorker* owner(const SimPartition& partition);
  bool owned() const;

  // Steps of a worker.
  void poll(SimWorker& worker, std::size_t records);
  void grow();
  void hand_to_ignorant(SimPartition& partition);
  void ask_partitions(SimWorker& worker) const;
  void hear_partitions(SimWorker& worker);
  SharedRowRules shared_rows() const { return {temper_.settings.layout, {0}, HourStart::highest()}; }
  void note(SimWorker& worker, const Result<void>& outcome);
  void send_commit(SimWorker& worker);
  void deliver_commit(SimWorker& worker);

  // Checks.
  void check_safe(SimPartition& partition, const CommittedOffset& commit);
  void check_reading(const SimPartition& partition, Position position, const SimExpected& reading);
  bool shows(const std::string& key) const;
  bool come_to_rest();
  bool at_rest();
  bool is_poison(const WindowKey& key) const {
    return net_.poison.contains(row_key(key.device, key.hour, temper_.settings.buckets));
  }
  using Contributions = std::map<PartitionId, const OracleWindow*>;
  SimTable::Row wanted_row(const WindowKey& key, const Contributions& contributions, bool merged) const;
  void add_rollups(SimTable::Row& row, const OracleWindow& window, std::int64_t timestamp) const;
  void drain();
  void check_cells();
  void check_sides();

  Random random_;
  bool trace_;
  SimTemper temper_;
  SimFindings findings_;
  EpochMs now_ = kSimStart;
  EpochMs skew_ = 0;  // of the hosts' wall clock
  SimTable table_;
  SimNet net_;
  std::vector<std::unique_ptr<SimPartition>> partitions_;
  bool several_;                      // the table says that rows have several contributions
  std::size_t noted_partitions_ = 0;  // as the table says
  // Revisions that must be in the totals: by row, of each partition.
  std::map<std::string, std::map<PartitionId, std::int64_t>> safe_;
  bool sides_down_ = false;
  std::vector<std::unique_ptr<SimHost>> hosts_;
  Workers workers_;
  int next_id_ = 1;
};

}  // namespace hourfold::test

#include "sim/sim_world_checks.h"
#include "sim/sim_world_steps.h"
