// The metrics of one reading while it is read: which names there are, each with a value or the reason why it
// has none; at the end those that count.
//
// Of equal names the last counts. Selection comes first: what it drops replaces nothing and is not counted.
//
// Threads: one thread per list. Ownership: names are the caller's (name_tag() reads a word of them, see
// json_tokens.h) and live as long as what is collected.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/reading.h"
#include "core/reading_shape.h"
#include "payload/metric_selector.h"

namespace hourfold {

class MetricList {
 public:
  enum class Fate : std::uint8_t { kUsable, kRejected, kNull, kReplaced };

  struct Entry {
    std::string_view name;  // kTooLong in place of a joined name beyond the limit
    double value = 0;
    Fate fate = Fate::kNull;
    MetricReject reject = {};

    void take(MetricReject reason) {
      fate = Fate::kRejected;
      reject = reason;
    }
  };

  static constexpr char kTooLongBytes[8] = {};
  static constexpr std::string_view kTooLong{kTooLongBytes, 0};

  explicit MetricList(const ReadingShape& shape);

  // Between two records.
  void next_record() {
    if (selector_) selector_->forget_surplus();
  }
  void clear() {
    entries_.clear();
    has_replaced_ = false;
  }

  Entry& add(std::string_view name) { return entries_.emplace_back(Entry{name}); }
  void add_usable(std::string_view name, double value) {
    entries_.push_back({name, value, Fate::kUsable, {}});
  }
  std::size_t size() const { return entries_.size(); }
  void replace(std::size_t first, std::size_t last) {
    for (std::size_t e = first; e < last; ++e) entries_[e].fate = Fate::kReplaced;
    has_replaced_ |= first != last;
  }

  // A scalar as text. False if it is no JSON number; the entry then is as it was.
  static bool take_number(std::string_view token, Entry& entry);
  // What stands between quotes: a number if the shape takes those, else rejected.
  void take_text(std::string_view text, Entry& entry) const;
  void take_boolean(bool value, Entry& entry) const;
  // Control characters only matter where the text may hold them.
  static bool is_name(std::string_view name, bool may_hold_controls) {
    return !name.empty() && name.size() <= kMaxMetricNameBytes &&
           !(may_hold_controls && holds_controls(name));
  }

  // Appends the usable metrics and counts the rejected ones. kNone, kTooMany or kNoUsableMetric; nothing is
  // appended then.
  Malformed collect(ParsedRecord& record);

 private:
  static bool holds_controls(std::string_view name);
  void select();
  void drop_repeated_names();
  bool same_tags_as_before() const;
  bool few_and_unique();
  bool each_is_unique();

  const bool numeric_strings_;
  const bool decimal_comma_;
  const bool booleans_;
  std::unique_ptr<MetricSelector> selector_;  // null: all are kept as they are
  std::vector<Entry> entries_;
  bool has_replaced_ = false;
  std::vector<std::uint64_t> distinct_tags_;  // of an earlier reading: different tags, different names
  std::vector<std::uint32_t> order_;          // scratch
};

}  // namespace hourfold
