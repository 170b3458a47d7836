// Ports that a test answers by hand.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/sink_queue.h"
#include "ports/side_output.h"
#include "state/memory_store.h"

namespace hourfold::test {

class FakeSink final : public SinkQueue {
 public:
  struct Put {
    Ticket ticket;
    std::vector<RowPut> rows;
    bool shared = false;
  };
  struct LookUp {
    Ticket ticket;
    std::vector<std::string> keys;
    std::string contribution;
    bool shared = false;
  };
  std::vector<Put> puts;  // not answered yet
  std::vector<LookUp> look_ups;

  void put(Ticket ticket, std::vector<RowPut> rows, const std::optional<SharedRowRules>& shared) override {
    puts.push_back({ticket, std::move(rows), shared.has_value()});
  }
  void look_up(Ticket ticket, std::vector<std::string> keys, const std::string& contribution,
               const std::optional<SharedRowRules>& shared) override {
    look_ups.push_back({ticket, std::move(keys), contribution, shared.has_value()});
  }
  void take_answers(std::vector<PutAnswer>& to_puts, std::vector<LookUpAnswer>& to_look_ups) override {
    for (PutAnswer& answer : put_answers_) to_puts.push_back(std::move(answer));
    for (LookUpAnswer& answer : look_up_answers_) to_look_ups.push_back(std::move(answer));
    put_answers_.clear();
    look_up_answers_.clear();
  }

  // Answers for the next step of a worker.
  void answer_put(std::size_t i, const Result<void>& outcome) {
    const PutAnswer answer{puts[i].ticket, outcome};
    put_answers_.push_back(answer);
    puts.erase(puts.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void answer_puts(const Result<void>& outcome) {
    while (!puts.empty()) answer_put(0, outcome);
  }
  void answer_look_up(const Result<std::vector<RowLookup>>& rows) {
    const LookUpAnswer answer{look_ups.front().ticket, rows};
    look_up_answers_.push_back(answer);
    look_ups.erase(look_ups.begin());
  }
  void find_nothing() {
    while (!look_ups.empty()) answer_look_up(std::vector<RowLookup>(look_ups.front().keys.size()));
  }

 private:
  std::vector<PutAnswer> put_answers_;
  std::vector<LookUpAnswer> look_up_answers_;
};

class FakeSide final : public SideOutput {
 public:
  std::vector<SideRecord> sent;
  std::vector<Position> acknowledged;
  std::vector<Position> failed;
  std::vector<Position> refused;
  Result<void> answer;  // of send()

  Result<void> send(const SideRecord& record) override {
    if (answer) sent.push_back(record);
    return answer;
  }
  void take_outcomes(SideOutcomes& outcomes) override {
    outcomes.acknowledged.insert(outcomes.acknowledged.end(), acknowledged.begin(), acknowledged.end());
    outcomes.failed.insert(outcomes.failed.end(), failed.begin(), failed.end());
    for (const Position position : refused) outcomes.refused.push_back({position, "no"});
    acknowledged.clear();
    failed.clear();
    refused.clear();
  }
  void acknowledge_all() {
    for (const SideRecord& record : sent) acknowledged.push_back(record.position);
  }
};

inline std::unique_ptr<WindowStore> open_store(MemoryStores& stores) {
  std::string notice;
  auto store = stores.open({0}, notice);
  HF_CHECK(store);
  return std::move(*store);
}

}  // namespace hourfold::test
