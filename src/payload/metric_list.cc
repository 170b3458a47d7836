#include "payload/metric_list.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "payload/json_number.h"
#include "payload/json_tokens.h"
#include "payload/name_tag.h"

namespace hourfold {
namespace {

constexpr std::size_t kFewNames = 16;

std::string_view trim(std::string_view text) {
  while (!text.empty() && JsonTokens::is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && JsonTokens::is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }

}  // namespace

MetricList::MetricList(const ReadingShape& shape)
    : numeric_strings_(shape.numeric_strings),
      decimal_comma_(shape.decimal_comma),
      booleans_(shape.booleans),
      selector_(shape.selection.empty() ? nullptr : std::make_unique<MetricSelector>(shape.selection)) {}

bool MetricList::holds_controls(std::string_view name) {
  return std::any_of(name.begin(), name.end(), is_control);
}

bool MetricList::take_number(std::string_view token, Entry& entry) {
  const ParsedDouble number = parse_json_double(token);
  if (number.kind == NumberKind::kBroken) return false;
  entry.value = number.value;
  entry.fate = number.kind == NumberKind::kFinite ? Fate::kUsable : Fate::kRejected;
  entry.reject = MetricReject::kOutOfRange;
  return true;
}

void MetricList::take_text(std::string_view text, Entry& entry) const {
  entry.take(MetricReject::kString);
  if (!numeric_strings_) return;
  text = trim(text);
  if (take_number(text, entry) || !decimal_comma_) return;
  std::array<char, 64> pointed{};
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.size() > pointed.size()) return;
  std::copy(text.begin(), text.end(), pointed.begin());
  pointed[comma] = '.';
  take_number({pointed.data(), text.size()}, entry);
}

void MetricList::take_boolean(bool value, Entry& entry) const {
  entry.take(MetricReject::kBoolean);
  if (booleans_) entry.fate = Fate::kUsable;
  entry.value = value ? 1 : 0;
}

// Before repeated names are looked for, since renaming may make some.
void MetricList::select() {
  std::size_t kept = 0;
  for (Entry& entry : entries_) {
    const bool no_name = entry.fate == Fate::kRejected && entry.reject == MetricReject::kBadName;
    if (no_name || entry.name.empty()) {
      entries_[kept++] = entry;
      continue;
    }
    const MetricSelector::Decision& decision = selector_->decide(entry.name);
    if (!decision.keep) continue;
    entry.name = decision.name;
    if (decision.converts && entry.fate == Fate::kUsable) {
      entry.value = decision.convert(entry.value);
      if (!std::isfinite(entry.value)) entry.take(MetricReject::kOutOfRange);
    }
    entries_[kept++] = entry;
  }
  entries_.resize(kept);
}

// Most readings have the names of the one before.
inline bool MetricList::same_tags_as_before() const {
  if (entries_.size() != distinct_tags_.size()) return false;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (name_tag(entries_[e].name) != distinct_tags_[e]) return false;
  }
  return true;
}

bool MetricList::few_and_unique() {
  if (entries_.size() > kFewNames) return false;
  distinct_tags_.clear();
  // A bit for each tag; two that share one are rare, and only then is each compared with each.
  std::array<std::uint64_t, 8> seen{};
  bool shared = false;
  for (const Entry& entry : entries_) {
    const std::uint64_t tag = name_tag(entry.name);
    distinct_tags_.push_back(tag);
    const std::uint64_t hash = tag * 0x9e3779b97f4a7c15;
    const std::uint64_t bit = std::uint64_t{1} << (hash >> 58);
    std::uint64_t& word = seen[hash >> 55 & 7];
    shared |= (word & bit) != 0;
    word |= bit;
  }
  return !shared || each_is_unique();
}

bool MetricList::each_is_unique() {
  bool distinct = true;
  for (std::size_t e = 1; e < entries_.size(); ++e) {
    for (std::size_t before = 0; before < e; ++before) {
      if (distinct_tags_[before] != distinct_tags_[e]) continue;
      distinct = false;
      if (entries_[before].name == entries_[e].name) {
        distinct_tags_.clear();
        return false;
      }
    }
  }
  if (!distinct) distinct_tags_.clear();
  return true;
}

void MetricList::drop_repeated_names() {
  if (same_tags_as_before() || few_and_unique()) return;
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

Malformed MetricList::collect(ParsedRecord& record) {
  if (has_replaced_) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.fate == Fate::kReplaced; });
    has_replaced_ = false;
  }
  if (selector_) select();
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
