// One partition's log, table and group, and the hosts that hold it one after the other, moved step by step by
// the test: what the service does around a worker, without its threads. Nothing happens that the test does
// not ask for; the simulation (sim_world.h) is for what happens at random.
//
// The table has the rules of the real one and reports what a reader must never see (SimTable); a commit that
// goes back fails the test.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/partition_worker.h"
#include "sim/sim_table.h"
#include "support/fake_ports.h"

namespace hourfold::test {

// 2026-01-01T10:00:00Z, the hour that the cases are about.
inline constexpr HourStart kFieldHour{1'767'261'600'000};
inline constexpr EpochMs kMinuteMs = 60'000;
inline constexpr EpochMs kDayMs = 24 * kHourMs;

// A reading at this time, with metrics as JSON members.
inline std::string field_reading(EpochMs event, const std::string& metrics,
                                 const std::string& device = "d1") {
  return R"({"device":")" + device + R"(","ts":)" + std::to_string(event) + R"(,"metrics":{)" + metrics +
         "}}";
}

struct FieldRecord {
  EpochMs timestamp_ms = 0;
  std::optional<std::string> value;
  std::optional<std::string> key;
};

// A process that holds the partition, or believes that it does.
struct FieldMember {
  FakeSink sink;
  FakeSide side;
  std::unique_ptr<WindowStore> store;
  std::unique_ptr<PartitionWorker> worker;  // last: it uses the others

  const WorkerCounters& counters() const { return worker->counters(); }
};

// What may come between two readings of a device.
enum class Meanwhile { kNothing, kRestart, kCrash, kLostDisk, kOtherHost, kExpiry };
inline constexpr std::array kAllMeanwhiles{Meanwhile::kNothing,  Meanwhile::kRestart,   Meanwhile::kCrash,
                                           Meanwhile::kLostDisk, Meanwhile::kOtherHost, Meanwhile::kExpiry};

class FieldWorld {
 public:
  using Disk = std::unique_ptr<MemoryStores>;

  WorkerSettings settings;
  std::vector<FieldRecord> log;
  SimFindings findings;
  SimTable table{findings};
  std::map<std::string, int> puts;                  // that landed, by row key
  std::map<Position, std::set<std::string>> sides;  // acknowledged, as "<channel> <reason>"
  std::optional<CommittedOffset> committed;
  EpochMs now = kFieldHour.ms + 30 * kMinuteMs;
  std::vector<Disk> disks;
  std::size_t host = 0;  // of the current member
  std::unique_ptr<FieldMember> member;

  FieldWorld() {
    settings.topic = "t";
    settings.buckets = 4;
    for (int i = 0; i < 3; ++i) disks.push_back(std::make_unique<MemoryStores>());
  }

  // Arrives now.
  void append(std::optional<std::string> value) { append_at(now, std::move(value)); }
  void append_at(EpochMs arrival, std::optional<std::string> value, std::optional<std::string> key = "d1") {
    log.push_back({arrival, std::move(value), std::move(key)});
  }

  // What the service does when it gets the partition.
  std::unique_ptr<FieldMember> open(MemoryStores& disk) {
    auto fresh = std::make_unique<FieldMember>();
    fresh->store = open_store(disk);
    auto plan = plan_start(facts(*fresh->store));
    REQUIRE_MESSAGE(plan, plan.error().message);
    if (plan->state == StartPlan::State::kSetAside) {
      fresh->store.reset();
      REQUIRE(disk.set_aside({0}, "the plan says so"));
      fresh->store = open_store(disk);
    }
    if (plan->commit_first) committed = plan->commit_first;
    auto worker =
        PartitionWorker::open(settings, std::move(*plan), *fresh->store, fresh->sink, fresh->side, now);
    REQUIRE_MESSAGE(worker, worker.error().message);
    fresh->worker = std::move(*worker);
    return fresh;
  }
  void start(std::size_t on_host = 0) {
    host = on_host;
    member = open(*disks[host]);
  }
  // A clean end: the state is written, the offset committed.
  void stop() {
    if (!member) return;
    REQUIRE(member->worker->checkpoint(now));
    REQUIRE(member->store->sync());
    commit(*member);
    member.reset();
  }
  // kill -9: of what was not synced these first steps survive.
  void crash(std::size_t survivors = 0) {
    disks[host]->crash({0}, std::min(survivors, disks[host]->unsynced({0})));
    member.reset();
  }

  // Up to so many records.
  void read(FieldMember& reader, std::size_t records = SIZE_MAX) {
    const auto from = static_cast<std::size_t>(reader.worker->next_offset().value);
    if (from >= log.size()) return;
    RecordBatch batch;
    for (std::size_t at = from; at < log.size() && batch.records.size() < records; ++at) {
      Record record;
      record.offset = {static_cast<std::int64_t>(at)};
      record.timestamp_ms = log[at].timestamp_ms;
      if (log[at].key) record.key = *log[at].key;
      if (log[at].value) record.value = *log[at].value;
      batch.records.push_back(record);
    }
    const auto folded = reader.worker->fold(batch, now);
    REQUIRE_MESSAGE(folded, folded.error().message);
  }
  void step(FieldMember& stepper, EpochMs later = 0) {
    now += later;
    const auto stepped = stepper.worker->step(now);
    REQUIRE_MESSAGE(stepped, stepped.error().message);
    if (const auto doubted = stepper.worker->doubted()) {
      const auto told = stepper.worker->log_ends_at({static_cast<std::int64_t>(log.size())}, *doubted);
      REQUIRE_MESSAGE(told, told.error().message);
    }
  }
  void apply(const std::vector<RowPut>& rows) {
    for (const RowPut& row : rows) {
      table.apply(row);
      ++puts[row.key()];
    }
  }
  // Everything on its way lands and is answered.
  void land(FieldMember& sender) {
    for (const FakeSink::Put& put : sender.sink.puts) apply(put.rows);
    sender.sink.answer_puts({});
    answer_look_ups(sender);
    for (const SideRecord& record : sender.side.sent)
      sides[record.position].insert(std::string(to_string(record.channel)) + " " + record.reason);
    sender.side.acknowledge_all();
    sender.side.sent.clear();
  }
  void answer_look_ups(FieldMember& asker) {
    while (!asker.sink.look_ups.empty()) {
      const FakeSink::LookUp& asked = asker.sink.look_ups.front();
      std::vector<RowLookup> rows;
      for (const std::string& key : asked.keys) rows.push_back(table.look_up(key, asked.contribution));
      asker.sink.answer_look_up(rows);
    }
  }
  void commit(FieldMember& committer) {
    const auto due = committer.worker->commit_due();
    if (!due) return;
    if (committed) CHECK_MESSAGE(due->next >= committed->next, "a committed offset goes back");
    committed = due;
    committer.worker->committed(due->next);
  }
  // Reads to the end; everything due later goes now; lands, is acknowledged and committed.
  void settle() {
    read(*member);
    for (int i = 0; i < 50 && (i == 0 || !member->worker->drained()); ++i) {
      member->worker->hurry();
      step(*member, 1'000);
      land(*member);
      step(*member);
      commit(*member);
    }
    CHECK(member->worker->drained());
    CHECK_MESSAGE(committed->next.value == static_cast<std::int64_t>(log.size()),
                  "the offset reaches the end");
    CHECK(books_balance(*member));
    for (const std::string& finding : findings.all()) FAIL_CHECK(finding);
  }

  void pass(Meanwhile what) {
    switch (what) {
      case Meanwhile::kNothing:
        return;
      case Meanwhile::kRestart:
        stop();
        return start(host);
      case Meanwhile::kCrash:
        crash();
        return start(host);
      case Meanwhile::kLostDisk:
        crash();
        disks[host] = std::make_unique<MemoryStores>();
        return start(host);
      case Meanwhile::kOtherHost:
        stop();
        return start(1 - host);
      case Meanwhile::kExpiry:
        return expire();
    }
  }
  // Three days in which others are heard of; what was acknowledged before leaves the state.
  void expire() {
    settle();
    now += 3 * kDayMs;
    append_at(now, field_reading(now, R"("a":1)", "other"), "other");
    settle();
    REQUIRE(member->worker->checkpoint(now));
    CHECK(member->counters().windows_expired.get() > 0);
  }

  // What a reader of the table sees of an hour; empty: no cell.
  std::optional<Rollup> cell(const std::string& device = "d1", HourStart hour = kFieldHour,
                             const std::string& metric = "a") const {
    const auto row = table.rows().find(row_key(device, hour, settings.buckets));
    std::optional<Rollup> found;
    if (row == table.rows().end()) return found;
    for (const auto& [where, stored] : row->second) {
      std::string_view name;
      Rollup rollup = found.value_or(Rollup{});
      if (where.first == 'r' && read_rollup_cell(where.second, stored.value, settings.layout, name, rollup) &&
          name == metric)
        found = rollup;
    }
    return found;
  }
  std::size_t puts_of(const std::string& device, HourStart hour) const {
    const auto at = puts.find(row_key(device, hour, settings.buckets));
    return at == puts.end() ? 0 : static_cast<std::size_t>(at->second);
  }
  static bool books_balance(const FieldMember& of) {
    const WorkerCounters& c = of.counters();
    return c.consumed.get() == c.folded.get() + c.duplicate.get() + c.quarantined.get() + c.archived.get() +
                                   c.malformed.get() + c.already_counted.get() + c.waiting.get();
  }

 private:
  StartFacts facts(const WindowStore& store) const {
    StartFacts facts;
    facts.topic = settings.topic;
    facts.partition_count = 1;
    facts.committed = committed;
    facts.log = {{0}, {static_cast<std::int64_t>(log.size())}};
    facts.table_empty = table.empty();
    facts.fingerprint = "0123456789abcdef";
    const auto marks = store.marks();
    REQUIRE(marks);
    if (*marks) facts.disk = *read_state_marks(**marks);
    return facts;
  }
};

}  // namespace hourfold::test
