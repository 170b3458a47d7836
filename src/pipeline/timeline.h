// Time that never goes back, made of a wall clock that may be set at any moment: what the clock loses is
// added from then on. Deadlines of a worker are kept in it, so that a clock set back delays none of them by
// what it was set back, and none of them again at every such step. A clock set forth brings them early, once.
//
// Threads: the owner's.
#pragma once

#include "core/types.h"

namespace hourfold {

class Timeline {
 public:
  explicit Timeline(EpochMs wall) : wall_(wall) {}

  // The wall clock says so now. Returns now on the timeline.
  EpochMs advance(EpochMs wall) {
    if (wall < wall_) ahead_ms_ += wall_ - wall;
    wall_ = wall;
    return wall_ + ahead_ms_;
  }
  // How far the timeline is ahead of the wall clock. Never less than before.
  std::int64_t ahead_ms() const { return ahead_ms_; }

 private:
  EpochMs wall_;
  std::int64_t ahead_ms_ = 0;
};

}  // namespace hourfold
