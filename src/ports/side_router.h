// Side outputs of which each channel may have its own kind: a topic for dead letters, files for the archive.
//
// Threads: as SideOutputs.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/check.h"
#include "ports/side_output.h"

namespace hourfold {

class SideRouter final : public SideOutputs {
 public:
  static constexpr std::size_t kChannels = 3;

  // By channel, in the order of SideChannel; outputs that handle several channels are given several times.
  explicit SideRouter(std::array<std::shared_ptr<SideOutputs>, kChannels> by_channel)
      : by_channel_(std::move(by_channel)) {
    for (const auto& outputs : by_channel_) {
      HF_CHECK(outputs != nullptr);
      if (std::ranges::find(distinct_, outputs) == distinct_.end()) distinct_.push_back(outputs);
    }
  }

  Result<void> check() override {
    for (const auto& outputs : distinct_)
      if (auto checked = outputs->check(); !checked) return checked.error();
    return {};
  }

  std::unique_ptr<SideOutput> open(PartitionId partition) override {
    auto route = std::make_unique<Route>();
    for (const auto& outputs : distinct_) route->opened.push_back(outputs->open(partition));
    for (std::size_t i = 0; i < kChannels; ++i) {
      const auto which = std::ranges::find(distinct_, by_channel_[i]) - distinct_.begin();
      route->by_channel[i] = route->opened[static_cast<std::size_t>(which)].get();
    }
    return route;
  }

 private:
  struct Route final : SideOutput {
    std::vector<std::unique_ptr<SideOutput>> opened;
    std::array<SideOutput*, kChannels> by_channel{};

    Result<void> send(const SideRecord& record) override {
      return by_channel.at(static_cast<std::size_t>(record.channel))->send(record);
    }
    void take_outcomes(SideOutcomes& outcomes) override {
      for (const auto& output : opened) output->take_outcomes(outcomes);
    }
  };

  std::array<std::shared_ptr<SideOutputs>, kChannels> by_channel_;
  std::vector<std::shared_ptr<SideOutputs>> distinct_;
};

}  // namespace hourfold
