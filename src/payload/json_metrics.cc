#include "payload/json_metrics.h"

#include <algorithm>

#include "payload/json_number.h"

namespace hourfold {

using Index = JsonTokens::Index;

void JsonMetrics::clear() {
  is_object_ = false;
  is_flat_ = true;
  depth_ = level_ = 0;
  list_.clear();
  members_.clear();
  prefix_.clear();
}

Index JsonMetrics::read(Index i, const Node* claimed) {
  clear();
  if (tokens_.first(i) != '{') return read_skipped(i);
  is_object_ = true;
  if (claimed == nullptr) {
    const Index next = read_flat(i);
    if (is_flat_) return next;
    clear();
    is_object_ = true;
  }
  is_flat_ = false;
  return read_nested(i, claimed);
}

Index JsonMetrics::read_named(std::string_view name, Index i) {
  clear();
  is_object_ = true;
  is_flat_ = false;
  return read_value(name, i, nullptr);
}

// Gives up with is_flat_ = false where a nested object begins: most readings have none and need no
// bookkeeping of keys.
Index JsonMetrics::read_flat(Index i) {
  depth_ = level_ = 1;
  ++i;
  if (tokens_.first(i) == '}') return i + 1;
  for (;;) {
    std::string_view name;
    if (!tokens_.name(i, name)) return JsonTokens::kBroken;
    i += 2;
    if (read_plain_number(name, i)) {
      ++i;
    } else if (tokens_.first(i) != '{') {
      i = read_leaf(name, i);
      if (i == JsonTokens::kBroken) return i;
    } else {
      is_flat_ = false;
      return JsonTokens::kBroken;
    }
    const char end = tokens_.first(i++);
    if (end == '}') return i;
    if (end != ',') return JsonTokens::kBroken;
  }
}

// The common case. Anything else is left to read_leaf().
inline bool JsonMetrics::read_plain_number(std::string_view name, Index i) {
  const char c = tokens_.first(i);
  if (c != '-' && (c < '0' || c > '9')) return false;
  const ParsedDouble number = parse_json_double(tokens_.bytes(i));
  if (number.kind != NumberKind::kFinite || !is_name(name)) return false;
  list_.add_usable(name, number.value);
  return true;
}

Index JsonMetrics::read_nested(Index i, const Node* claimed) {
  depth_ = std::max(depth_, ++level_);
  const std::size_t first_member = members_.size();
  i = tokens_.each_member(
      i, [&](std::string_view key, Index value) { return read_member(key, value, claimed); });
  if (i == JsonTokens::kBroken) return i;
  drop_repeated_members(first_member);
  --level_;
  return i;
}

Index JsonMetrics::read_member(std::string_view key, Index i, const Node* claimed) {
  const std::size_t first_entry = list_.size();
  const Node* const claim = claimed == nullptr ? nullptr : claimed->child(key, name_tag(key));
  if (claim != nullptr && claim->role != PointerTree::Role::kNone) return read_skipped(i);
  i = read_value(key, i, claim);
  members_.push_back({key, first_entry, list_.size()});
  return i;
}

Index JsonMetrics::read_value(std::string_view key, Index i, const Node* claimed) {
  if (tokens_.first(i) != '{') return read_leaf(joined(key), i);
  if (level_ == kMaxDepth) return read_skipped(i);
  const std::size_t outer = prefix_.size();
  prefix_.append(key).push_back('.');
  i = read_nested(i, claimed);
  prefix_.resize(outer);
  return i;
}

Index JsonMetrics::read_leaf(std::string_view name, Index i) {
  Entry& entry = list_.add(name);
  Index next = i + 1;
  if (tokens_.first(i) == '[') {
    entry.take(MetricReject::kArray);
    next = read_skipped(i);
  } else if (!read_scalar(i, entry)) {
    return JsonTokens::kBroken;
  }
  if (entry.fate != Fate::kNull && !is_name(entry.name)) entry.take(MetricReject::kBadName);
  return next;
}

Index JsonMetrics::read_skipped(Index i) {
  const auto [next, depth] = tokens_.skip(i);
  depth_ = std::max(depth_, level_ + depth);
  return next;
}

bool JsonMetrics::read_scalar(Index i, Entry& entry) {
  const std::string_view bytes = tokens_.bytes(i);
  std::string_view text;
  switch (bytes.front()) {
    case '"':
      if (!tokens_.string(i, text)) return false;
      list_.take_text(text, entry);
      return true;
    case 'n':
      return bytes == "null";
    case 't':
    case 'f':
      list_.take_boolean(bytes.front() == 't', entry);
      return bytes == "true" || bytes == "false";
    default:
      if (MetricList::take_number(bytes, entry)) return true;
      entry.take(MetricReject::kNotFinite);
      return bytes == "NaN" || bytes == "Infinity" || bytes == "-Infinity";
  }
}

std::string_view JsonMetrics::joined(std::string_view key) {
  if (prefix_.empty()) return key;
  const std::size_t size = prefix_.size() + key.size();
  if (size > kMaxMetricNameBytes) return MetricList::kTooLong;
  char* const name = arena_.allocate(size);
  std::copy(key.begin(), key.end(), std::copy(prefix_.begin(), prefix_.end(), name));
  return {name, size};
}

void JsonMetrics::drop_repeated_members(std::size_t first_member) {
  order_.clear();
  for (std::size_t m = first_member; m < members_.size(); ++m)
    order_.push_back(static_cast<std::uint32_t>(m));
  std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const int order = members_[a].key.compare(members_[b].key);
    return order != 0 ? order < 0 : a < b;
  });
  for (std::size_t o = 1; o < order_.size(); ++o) {
    const Member& earlier = members_[order_[o - 1]];
    if (earlier.key == members_[order_[o]].key) list_.replace(earlier.first_entry, earlier.last_entry);
  }
  members_.resize(first_member);
}

Malformed JsonMetrics::collect(ParsedRecord& record) {
  return is_object_ ? list_.collect(record) : Malformed::kNoMetrics;
}

}  // namespace hourfold
