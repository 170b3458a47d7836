// Ends of a worker's ports that lead nowhere: for readings that are folded again only to compare them, or
// whose side records another service has written.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/check.h"
#include "pipeline/sink_queue.h"
#include "ports/side_output.h"

namespace hourfold {

// For a worker that holds back all it has.
class NoSink final : public SinkQueue {
 public:
  void put(Ticket /*ticket*/, std::vector<RowPut> /*rows*/,
           const std::optional<SharedRowRules>& /*shared*/) override {
    HF_CHECK(false);
  }
  void look_up(Ticket /*ticket*/, std::vector<std::string> /*keys*/, const std::string& /*which*/,
               const std::optional<SharedRowRules>& /*shared*/) override {
    HF_CHECK(false);
  }
  void take_answers(std::vector<PutAnswer>& /*puts*/, std::vector<LookUpAnswer>& /*look_ups*/) override {}
};

// Acknowledges everything and writes nothing.
class NoSideOutput final : public SideOutput {
 public:
  Result<void> send(const SideRecord& record) override {
    taken_.push_back(record.position);
    return {};
  }
  void take_outcomes(SideOutcomes& outcomes) override {
    outcomes.acknowledged.insert(outcomes.acknowledged.end(), taken_.begin(), taken_.end());
    taken_.clear();
  }

 private:
  std::vector<Position> taken_;
};

// Of a rebuild: the side records of what lies below an offset are another service's.
class SideOutputFrom final : public SideOutput {
 public:
  SideOutputFrom(Offset from, std::unique_ptr<SideOutput> inner) : from_(from), inner_(std::move(inner)) {}

  Result<void> send(const SideRecord& record) override {
    return record.position.offset < from_ ? none_.send(record) : inner_->send(record);
  }
  void take_outcomes(SideOutcomes& outcomes) override {
    none_.take_outcomes(outcomes);
    inner_->take_outcomes(outcomes);
  }

 private:
  const Offset from_;
  NoSideOutput none_;
  std::unique_ptr<SideOutput> inner_;
};

class NoSideOutputs final : public SideOutputs {
 public:
  Result<void> check() override { return {}; }
  std::unique_ptr<SideOutput> open(PartitionId /*partition*/) override {
    return std::make_unique<NoSideOutput>();
  }
};

}  // namespace hourfold
