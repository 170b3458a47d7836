// Side topics that take some records, refuse others for a while and lose acknowledgements.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ports/side_output.h"
#include "support/random.h"

namespace hourfold::test {

// What the topics hold: by position, "<channel> <reason>".
using SimSideTopics = std::map<Position, std::set<std::string>>;

class SimSideOutput final : public SideOutput {
 public:
  SimSideOutput(Random& random, SimSideTopics& topics, std::size_t capacity)
      : random_(random), topics_(topics), capacity_(capacity) {}

  // What was on its way when the worker ended may arrive or not.
  ~SimSideOutput() override {
    for (const auto& [position, text] : sending_) {
      if (random_.chance(.5)) topics_[position].insert(text);
    }
  }
  SimSideOutput(const SimSideOutput&) = delete;
  SimSideOutput& operator=(const SimSideOutput&) = delete;

  Result<void> send(const SideRecord& record) override {
    if (sending_.size() >= capacity_) return unavailable("the local queue is full");
    sending_[record.position] = std::string(to_string(record.channel)) + " " + record.reason;
    return {};
  }

  void take_outcomes(SideOutcomes& outcomes) override {
    outcomes.acknowledged.insert(outcomes.acknowledged.end(), acknowledged_.begin(), acknowledged_.end());
    outcomes.failed.insert(outcomes.failed.end(), failed_.begin(), failed_.end());
    for (const Position position : refused_) outcomes.refused.push_back({position, "no"});
    acknowledged_.clear();
    failed_.clear();
    refused_.clear();
  }

  void mishap() {
    if (sending_.empty()) return;
    const auto at = std::next(sending_.begin(), static_cast<std::ptrdiff_t>(random_.below(sending_.size())));
    const std::size_t fate = random_.below(12);
    // One that is refused for good is accounted for: by the alarm.
    if (fate > 1) topics_[at->first].insert(at->second);
    (fate > 4 ? acknowledged_ : fate > 3 ? refused_ : failed_).push_back(at->first);
    sending_.erase(at);
  }

  void settle() {
    for (const auto& [position, text] : sending_) {
      topics_[position].insert(text);
      acknowledged_.push_back(position);
    }
    sending_.clear();
  }

 private:
  Random& random_;
  SimSideTopics& topics_;
  std::size_t capacity_;
  std::map<Position, std::string> sending_;
  std::vector<Position> acknowledged_;
  std::vector<Position> failed_;
  std::vector<Position> refused_;
};

}  // namespace hourfold::test
