// What a person sees of `hourfold demo`: an introduction, one line of live progress (or a line now and then
// where there is no terminal), and the summary.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "app/demo_oracle.h"
#include "app/service.h"

namespace hourfold {

class DemoScreen {
 public:
  DemoScreen(std::ostream& out, bool terminal, EpochMs begin_ms, EpochMs end_ms)
      : out_(out),
        terminal_(terminal),
        begin_ms_(begin_ms),
        end_ms_(end_ms),
        started_(std::chrono::steady_clock::now()) {}

  void introduce(std::uint32_t devices, std::uint32_t hours, std::uint64_t readings, const std::string& dir);
  // Draws at most a few times a second.
  void show(const Service& service, EpochMs fleet_time);
  void end_progress();
  void summarise(const CounterTotals& totals, const DemoOracle& oracle, const DemoOracle::Verdict& verdict,
                 const std::string& config_file);

 private:
  std::ostream& out_;
  bool terminal_;
  EpochMs begin_ms_;
  EpochMs end_ms_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_{};
  bool open_line_ = false;
};

}  // namespace hourfold
