// Short forms for tests that fold readings into windows and look at the bytes.
#pragma once

#include <string>
#include <vector>

#include "core/contribution_codec.h"
#include "core/window.h"

namespace hourfold::test {

inline std::string bytes_of(const Window& window) {
  std::string out;
  append_contribution(out, window);
  return out;
}

// As a worker does that lost its memory.
inline Window reread(const Window& window, FoldTools& tools) {
  auto read = read_contribution(bytes_of(window), tools.schemas);
  HF_CHECK(read);
  return std::move(*read);
}

inline constexpr EpochMs kArrival = 1'767'225'600'000;

inline FoldOutcome fold(Window& window, FoldTools& tools, const std::vector<Metric>& metrics,
                        std::uint32_t time, Position position) {
  return window.fold(metrics, time, position, kArrival + position.offset.value, tools);
}

}  // namespace hourfold::test
