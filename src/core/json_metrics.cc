#include "core/json_metrics.h"

#include <algorithm>
#include <array>

#include "core/json_number.h"

namespace hourfold {
namespace {

using Index = JsonTokens::Index;

constexpr std::size_t kFewNames = 16;

std::string_view trim(std::string_view text) {
  while (!text.empty() && JsonTokens::is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && JsonTokens::is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }

}  // namespace

void MetricReader::clear() {
  is_object_ = false;
  is_flat_ = true;
  depth_ = level_ = 0;
  entries_.clear();
  members_.clear();
  prefix_.clear();
}

inline bool MetricReader::has_bad_name(std::string_view name) const {
  if (name.empty() || name.size() > kMaxMetricNameBytes) return true;
  return !tokens_.plain() && std::any_of(name.begin(), name.end(), is_control);
}

Index MetricReader::read(Index i) {
  clear();
  if (tokens_.first(i) != '{') return read_skipped(i);
  is_object_ = true;
  const Index next = read_flat(i);
  if (is_flat_) return next;
  clear();
  is_object_ = true;
  is_flat_ = false;
  return read_nested(i);
}

// Gives up with is_flat_ = false where a nested object begins: most readings have none and need no
// bookkeeping of keys.
Index MetricReader::read_flat(Index i) {
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
inline bool MetricReader::read_plain_number(std::string_view name, Index i) {
  const char c = tokens_.first(i);
  if (c != '-' && (c < '0' || c > '9')) return false;
  const ParsedDouble number = parse_json_double(tokens_.bytes(i));
  if (number.kind != NumberKind::kFinite || has_bad_name(name)) return false;
  entries_.push_back({name, number.value, Fate::kUsable, {}});
  return true;
}

Index MetricReader::read_nested(Index i) {
  depth_ = std::max(depth_, ++level_);
  const std::size_t first_member = members_.size();
  ++i;
  bool more = tokens_.first(i) != '}';
  while (more) {
    std::string_view key;
    if (!tokens_.name(i, key)) return JsonTokens::kBroken;
    i = read_member(key, i + 2);
    if (i == JsonTokens::kBroken) return i;
    more = tokens_.first(i) == ',';
    if (more) ++i;
  }
  if (tokens_.first(i) != '}') return JsonTokens::kBroken;
  drop_repeated_members(first_member);
  --level_;
  return i + 1;
}

Index MetricReader::read_member(std::string_view key, Index i) {
  const std::size_t first_entry = entries_.size();
  if (tokens_.first(i) != '{') {
    i = read_leaf(joined(key), i);
  } else if (level_ == kMaxDepth) {
    i = read_skipped(i);
  } else {
    const std::size_t outer = prefix_.size();
    prefix_.append(key).push_back('.');
    i = read_nested(i);
    prefix_.resize(outer);
  }
  members_.push_back({key, first_entry, entries_.size()});
  return i;
}

Index MetricReader::read_leaf(std::string_view name, Index i) {
  Entry& entry = entries_.emplace_back(Entry{name, 0, Fate::kNull, {}});
  Index next = i + 1;
  if (tokens_.first(i) == '[') {
    entry.fate = Fate::kRejected;
    entry.reject = MetricReject::kArray;
    next = read_skipped(i);
  } else if (!read_scalar(i, entry)) {
    return JsonTokens::kBroken;
  }
  if (entry.fate != Fate::kNull && has_bad_name(entry.name)) {
    entry.fate = Fate::kRejected;
    entry.reject = MetricReject::kBadName;
  }
  return next;
}

Index MetricReader::read_skipped(Index i) {
  const auto [next, depth] = tokens_.skip(i);
  depth_ = std::max(depth_, level_ + depth);
  return next;
}

// False if the text is not the grammar of a number.
bool MetricReader::take_number(std::string_view text, Entry& entry) {
  const ParsedDouble number = parse_json_double(text);
  entry.value = number.value;
  entry.fate = number.kind == NumberKind::kFinite ? Fate::kUsable : Fate::kRejected;
  entry.reject = MetricReject::kOutOfRange;
  return number.kind != NumberKind::kBroken;
}

bool MetricReader::read_scalar(Index i, Entry& entry) {
  const auto reject = [&entry](MetricReject reason) {
    entry.fate = Fate::kRejected;
    entry.reject = reason;
  };
  const std::string_view bytes = tokens_.bytes(i);
  switch (bytes.front()) {
    case '"':
      return read_text(i, entry);
    case 'n':
      entry.fate = Fate::kNull;
      return bytes == "null";
    case 't':
    case 'f':
      reject(MetricReject::kBoolean);
      if (options_.booleans) entry.fate = Fate::kUsable;
      entry.value = bytes.front() == 't' ? 1 : 0;
      return bytes == "true" || bytes == "false";
    default:
      if (take_number(bytes, entry)) return true;
      reject(MetricReject::kNotFinite);
      return bytes == "NaN" || bytes == "Infinity" || bytes == "-Infinity";
  }
}

bool MetricReader::read_text(Index i, Entry& entry) {
  std::string_view text;
  if (!tokens_.string(i, text)) return false;
  if (options_.numeric_strings && take_number(trim(text), entry)) return true;
  entry.fate = Fate::kRejected;
  entry.reject = MetricReject::kString;
  return true;
}

std::string_view MetricReader::joined(std::string_view key) {
  if (prefix_.empty()) return key;
  const std::size_t size = prefix_.size() + key.size();
  if (size > kMaxMetricNameBytes) return kTooLong;
  char* const name = arena_.allocate(size);
  std::copy(key.begin(), key.end(), std::copy(prefix_.begin(), prefix_.end(), name));
  return {name, size};
}

void MetricReader::drop_repeated_members(std::size_t first_member) {
  order_.clear();
  for (std::size_t m = first_member; m < members_.size(); ++m)
    order_.push_back(static_cast<std::uint32_t>(m));
  std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const int order = members_[a].key.compare(members_[b].key);
    return order != 0 ? order < 0 : a < b;
  });
  for (std::size_t o = 1; o < order_.size(); ++o) {
    const Member& earlier = members_[order_[o - 1]];
    if (earlier.key != members_[order_[o]].key) continue;
    for (std::size_t e = earlier.first_entry; e < earlier.last_entry; ++e) entries_[e].fate = Fate::kReplaced;
  }
  members_.resize(first_member);
}

bool MetricReader::few_and_unique() const {
  if (entries_.size() > kFewNames) return false;
  // A bit for each tag; two names that share one are rare, and only then is each compared with each.
  std::array<std::uint64_t, 8> seen{};
  bool shared = false;
  for (const Entry& entry : entries_) {
    const std::uint64_t hash = name_tag(entry.name) * 0x9e3779b97f4a7c15;
    const std::uint64_t bit = std::uint64_t{1} << (hash >> 58);
    std::uint64_t& word = seen[hash >> 55 & 7];
    shared |= (word & bit) != 0;
    word |= bit;
  }
  if (!shared) return true;
  for (std::size_t e = 1; e < entries_.size(); ++e) {
    for (std::size_t before = 0; before < e; ++before) {
      if (entries_[before].name == entries_[e].name) return false;
    }
  }
  return true;
}

void MetricReader::drop_repeated_names() {
  if (!is_flat_) std::erase_if(entries_, [](const Entry& entry) { return entry.fate == Fate::kReplaced; });
  if (few_and_unique()) return;
  order_.clear();
  for (std::size_t e = 0; e < entries_.size(); ++e) order_.push_back(static_cast<std::uint32_t>(e));
  std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const int order = entries_[a].name.compare(entries_[b].name);
    return order != 0 ? order < 0 : a < b;
  });
  for (std::size_t o = 1; o < order_.size(); ++o) {
    Entry& earlier = entries_[order_[o - 1]];
    if (earlier.name.data() != kTooLong.data() && earlier.name == entries_[order_[o]].name)
      earlier.fate = Fate::kReplaced;
  }
}

Malformed MetricReader::collect(ParsedRecord& record) {
  if (!is_object_) return Malformed::kNoMetrics;
  drop_repeated_names();
  const std::size_t before = record.metrics.size();
  std::size_t rejected = 0;
  for (const Entry& entry : entries_) {
    if (entry.fate == Fate::kUsable) record.metrics.push_back({entry.name, entry.value});
    if (entry.fate != Fate::kRejected) continue;
    ++rejected;
    ++record.rejected_metrics[static_cast<std::size_t>(entry.reject)];
  }
  const std::size_t usable = record.metrics.size() - before;
  if (usable > kMaxMetricsPerReading) {
    record.metrics.resize(before);
    return Malformed::kTooMany;
  }
  return usable == 0 && rejected > 0 ? Malformed::kNoUsableMetric : Malformed::kNone;
}

}  // namespace hourfold
