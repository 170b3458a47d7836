// Wall clock of the host. Decides when to emit, checkpoint and retry; never what is in a cell.
#pragma once

#include "core/types.h"

namespace hourfold {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual EpochMs now_ms() const = 0;
};

}  // namespace hourfold
