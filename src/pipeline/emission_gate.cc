#include "pipeline/emission_gate.h"

#include "core/check.h"

namespace hourfold {

EmissionGate::EmissionGate(std::optional<RebuildMarks> marks) : marks_(std::move(marks)) {
  if (!marks_) return;
  for (const auto& [hour, offset] : marks_->held) lowest_.emplace(offset, hour);
}

void EmissionGate::hold(HourStart hour, Offset offset) {
  const auto [at, first] = marks_->held.try_emplace(hour, offset);
  if (!first && at->second <= offset) return;
  if (!first) lowest_.erase({at->second, hour});
  at->second = offset;
  lowest_.emplace(offset, hour);
}

void EmissionGate::release_to(const WindowKey& key) {
  HF_CHECK(marks_ && key >= marks_->released);
  marks_->released = key;
  while (!marks_->held.empty() && marks_->held.begin()->first < key.hour) {
    lowest_.erase({marks_->held.begin()->second, marks_->held.begin()->first});
    marks_->held.erase(marks_->held.begin());
  }
}

}  // namespace hourfold
