// The metrics object of one reading, from JSON.
//
// Nested objects are flattened with a dot. Of equal keys in one object the last counts with all that is below
// it, and so does the last of equal names that arise from flattening. Members that other pointers of the
// shape name are no metrics.
//
// Threads and ownership: as JsonTokens, on which it works.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/reading.h"
#include "payload/arena.h"
#include "payload/json_tokens.h"
#include "payload/metric_list.h"
#include "payload/pointer_tree.h"

namespace hourfold {

class JsonMetrics {
 public:
  using Index = JsonTokens::Index;

  JsonMetrics(JsonTokens& tokens, Arena& arena, const ReadingShape& shape)
      : tokens_(tokens), arena_(arena), list_(shape) {}

  // Between two records.
  void next_record() { list_.next_record(); }
  // Forgets the reading before.
  void clear();

  // Reads the value of the metrics member and forgets what an earlier one of the same reading held. claimed:
  // members of it that are no metrics, or null. Returns behind the value, or kBroken.
  Index read(Index i, const PointerTree::Node* claimed = nullptr);
  // The same of a value that has its name elsewhere; an object is flattened below it.
  Index read_named(std::string_view name, Index i);

  // Depth of objects and arrays in the value that was read.
  std::size_t depth() const { return depth_; }

  // Appends the usable metrics and counts the rejected ones. kNone, kNoMetrics, kTooMany or kNoUsableMetric;
  // nothing is appended then.
  Malformed collect(ParsedRecord& record);

 private:
  using Entry = MetricList::Entry;
  using Fate = MetricList::Fate;
  using Node = PointerTree::Node;

  // A key of the object that is being flattened, and the entries that came of it.
  struct Member {
    std::string_view key;
    std::size_t first_entry;
    std::size_t last_entry;
  };

  Index read_flat(Index i);
  Index read_nested(Index i, const Node* claimed);
  Index read_member(std::string_view key, Index i, const Node* claimed);
  Index read_value(std::string_view key, Index i, const Node* claimed);
  Index read_leaf(std::string_view name, Index i);
  Index read_skipped(Index i);
  bool read_scalar(Index i, Entry& entry);
  bool is_name(std::string_view name) const { return MetricList::is_name(name, !tokens_.plain()); }
  bool read_plain_number(std::string_view name, Index i);
  std::string_view joined(std::string_view key);
  void drop_repeated_members(std::size_t first_member);

  JsonTokens& tokens_;
  Arena& arena_;
  MetricList list_;
  bool is_object_ = false;
  bool is_flat_ = true;
  std::size_t depth_ = 0;
  std::size_t level_ = 0;             // of the object that is being read
  std::vector<Member> members_;       // a stack: those of the objects that are open
  std::string prefix_;                // names of the objects that are open, a dot behind each
  std::vector<std::uint32_t> order_;  // scratch
};

}  // namespace hourfold
