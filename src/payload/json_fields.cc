#include "payload/json_fields.h"

#include <utility>

#include "payload/json_number.h"

namespace hourfold {

using Role = PointerTree::Role;

JsonFields::JsonFields(const ReadingShape& shape, PointerTree pointers, JsonTokens& tokens,
                       DeviceParts& device, JsonMetrics* metrics)
    : time_format_(shape.time_unit, shape.time_strings, shape.time_zone_minutes),
      arrival_format_(shape.arrival_unit, shape.time_strings, shape.time_zone_minutes),
      pointers_(std::move(pointers)),
      tokens_(tokens),
      device_(device),
      metrics_(metrics) {}

JsonFields::Index JsonFields::read(Index object) {
  metric_name = {};
  value = body = kBroken;
  depth = 0;
  const Node& root = pointers_.root();
  if (root.role == Role::kBody) body = object;
  in_metrics_ = root.role == Role::kMetrics;
  const Index next = read_members(object, root, 1);
  if (next == kBroken || root.role != Role::kMetrics) return next;
  return read_metrics(object, &root, 0) == kBroken ? kBroken : next;
}

// From the opening bracket of an object to behind its closing one.
JsonFields::Index JsonFields::read_members(Index i, const Node& node, std::size_t level) {
  return tokens_.each_member(i, [&](std::string_view name, Index member_value) {
    const Node* const member = node.child(name, name_tag(name));
    return member == nullptr ? skip(member_value, level) : read_member(member_value, *member, level);
  });
}

JsonFields::Index JsonFields::read_member(Index i, const Node& node, std::size_t level) {
  return node.children.empty() ? read_field(i, node, level) : read_inner(i, node, level);
}

// A member that pointers go through. Of equal names the last counts, with all that is below it.
JsonFields::Index JsonFields::read_inner(Index i, const Node& node, std::size_t level) {
  for (const Node& child : node.children) forget(child);
  Index next = kBroken;
  if (tokens_.first(i) == '{' && level < kMaxDepth) {
    note_depth(level);
    const bool outer = std::exchange(in_metrics_, in_metrics_ || node.role == Role::kMetrics);
    next = read_members(i, node, level + 1);
    in_metrics_ = outer;
  } else {
    next = skip(i, level);
  }
  if (next == kBroken || node.role != Role::kMetrics) return next;
  return read_metrics(i, &node, level);
}

JsonFields::Index JsonFields::read_field(Index i, const Node& node, std::size_t level) {
  switch (node.role) {
    case Role::kMetrics:
      return read_metrics(i, nullptr, level);
    case Role::kTime:
      return read_time(i, time_format_, time, level);
    case Role::kDevice:
      return read_device(i, device_.part(node.part), level);
    case Role::kArrival:
      return read_time(i, arrival_format_, arrival, level);
    case Role::kMetric:
      return read_metric_name(i, level);
    case Role::kValue:
      value = i;
      return skip(i, level);
    case Role::kBody:
      body = i;
      return skip(i, level);
    default:
      return skip(i, level);
  }
}

void JsonFields::forget(const Node& node) {
  for (const Node& child : node.children) forget(child);
  switch (node.role) {
    case Role::kMetrics:
      return metrics_->clear();
    case Role::kTime:
      time = {};
      return;
    case Role::kDevice:
      device_.part(node.part) = {};
      return;
    case Role::kArrival:
      arrival = {};
      return;
    case Role::kMetric:
      metric_name = {};
      return;
    case Role::kValue:
      value = kBroken;
      return;
    case Role::kBody:
      body = kBroken;
      return;
    default:
      return;
  }
}

JsonFields::Index JsonFields::read_metrics(Index i, const Node* claimed, std::size_t level) {
  i = metrics_->read(i, claimed);
  // Level 0 is the reading itself, which the caller counts.
  note_depth(level + metrics_->depth() - 1);
  return i;
}

JsonFields::Index JsonFields::read_device(Index i, DeviceField& device, std::size_t level) {
  device = {Malformed::kBadDevice, {}};
  switch (tokens_.first(i)) {
    case '"':
      if (!tokens_.string(i, device.id)) return kBroken;
      break;
    case 'n':
      device.reason = Malformed::kNoDevice;
      return skip(i, level);
    case '{':
    case '[':
      return skip(i, level);
    default:
      if (is_json_integer(tokens_.bytes(i))) device.id = tokens_.bytes(i);
  }
  if (is_device(device.id)) device.reason = Malformed::kNone;
  return skip(i, level);
}

JsonFields::Index JsonFields::read_time(Index i, const TimeFormat& format, TimeField& field,
                                        std::size_t level) {
  const char c = tokens_.first(i);
  if (c == '-' || (c >= '0' && c <= '9')) {
    field = format.number(tokens_.bytes(i));
    if (field.reason != Malformed::kBadJson) return i + 1;
    field.reason = Malformed::kBadTime;
    return skip(i, level);
  }
  field.reason = c == 'n' ? Malformed::kNoTime : Malformed::kBadTime;
  if (c != '"') return skip(i, level);
  std::string_view text;
  if (!tokens_.string(i, text)) return kBroken;
  field = format.text(text);
  return i + 1;
}

JsonFields::Index JsonFields::read_metric_name(Index i, std::size_t level) {
  metric_name = {};
  if (tokens_.first(i) != '"') return skip(i, level);
  return tokens_.string(i, metric_name) ? i + 1 : kBroken;
}

JsonFields::Index JsonFields::skip(Index i, std::size_t level) {
  const auto [next, inside] = in_metrics_ ? tokens_.skip_metrics(i) : tokens_.skip(i);
  if (inside != 0) note_depth(level + inside - 1);
  return next;
}

}  // namespace hourfold
