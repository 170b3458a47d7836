// Clocks of the host. They decide when to emit, checkpoint and retry; never what is in a cell.
#pragma once

#include "core/types.h"

namespace hourfold {

class Clock {
 public:
  virtual ~Clock() = default;
  // Wall clock: closes hours. It may be set back or forth at any moment.
  virtual EpochMs now_ms() const = 0;
  // Since some moment, at an even pace: for intervals and timeouts.
  virtual std::int64_t steady_ms() const = 0;
};

}  // namespace hourfold
