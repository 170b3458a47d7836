// The fields of a JSON object where the pointers say, in one walk over it.
//
// Of equal names the last counts, with all that is below it.
//
// Threads and ownership: as JsonTokens, on which it works.
#pragma once

#include <algorithm>
#include <string_view>

#include "payload/device_parts.h"
#include "payload/event_time.h"
#include "payload/json_metrics.h"
#include "payload/json_tokens.h"
#include "payload/pointer_tree.h"

namespace hourfold {

class JsonFields {
 public:
  using Index = JsonTokens::Index;
  static constexpr Index kBroken = JsonTokens::kBroken;

  // metrics: null if no pointer has that role.
  JsonFields(const ReadingShape& shape, PointerTree pointers, JsonTokens& tokens, DeviceParts& device,
             JsonMetrics* metrics);

  // Walks over the object, or answers kBroken. What it does not have stays as it was.
  Index read(Index object);

  const PointerTree& pointers() const { return pointers_; }
  const TimeFormat& time_format() const { return time_format_; }
  const TimeFormat& arrival_format() const { return arrival_format_; }

  // Until the next read.
  TimeField time;
  TimeField arrival;
  std::string_view metric_name;
  Index value = kBroken;  // of the one metric; kBroken: none
  Index body = kBroken;   // kBroken: none
  std::size_t depth = 0;  // of objects and arrays in the object

 private:
  using Node = PointerTree::Node;

  Index read_members(Index i, const Node& node, std::size_t level);
  Index read_member(Index i, const Node& node, std::size_t level);
  Index read_inner(Index i, const Node& node, std::size_t level);
  Index read_field(Index i, const Node& node, std::size_t level);
  Index read_device(Index i, DeviceField& device, std::size_t level);
  Index read_time(Index i, const TimeFormat& format, TimeField& field, std::size_t level);
  Index read_metric_name(Index i, std::size_t level);
  Index read_metrics(Index i, const Node* claimed, std::size_t level);
  Index skip(Index i, std::size_t level);
  void forget(const Node& node);
  void note_depth(std::size_t inside) { depth = std::max(depth, inside); }

  const TimeFormat time_format_;
  const TimeFormat arrival_format_;
  const PointerTree pointers_;
  JsonTokens& tokens_;
  DeviceParts& device_;
  JsonMetrics* const metrics_;
  bool in_metrics_ = false;  // what is walked over is metrics, too
};

}  // namespace hourfold
