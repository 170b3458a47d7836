// The metrics object of one reading: which names it holds, each with a value or the reason why it has none.
//
// Nested objects are flattened with a dot. Of equal keys in one object the last counts with all that is below
// it, and so does the last of equal names that arise from flattening.
//
// Threads and ownership: as JsonTokens, on which it works.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/arena.h"
#include "core/json_tokens.h"
#include "core/reading.h"

namespace hourfold {

class MetricReader {
 public:
  struct Options {
    bool numeric_strings = false;
    bool booleans = false;
  };

  MetricReader(JsonTokens& tokens, Arena& arena, Options options)
      : tokens_(tokens), arena_(arena), options_(options) {}

  // Forgets the reading before.
  void clear();

  // Reads the value of the metrics member and forgets what an earlier one of the same reading held. Returns
  // behind the value, or kBroken.
  JsonTokens::Index read(JsonTokens::Index i);

  // Depth of objects and arrays in the value that was read.
  std::size_t depth() const { return depth_; }

  // Appends the usable metrics and counts the rejected ones. kNone, kNoMetrics, kTooMany or kNoUsableMetric;
  // nothing is appended then.
  Malformed collect(ParsedRecord& record);

 private:
  enum class Fate : std::uint8_t { kUsable, kRejected, kNull, kReplaced };

  struct Entry {
    std::string_view name;  // kTooLong in place of a joined name beyond the limit
    double value;
    Fate fate;
    MetricReject reject;
  };

  static constexpr std::string_view kTooLong{"\0\0\0\0\0\0\0\0", 0};

  // A key of the object that is being flattened, and the entries that came of it.
  struct Member {
    std::string_view key;
    std::size_t first_entry;
    std::size_t last_entry;
  };

  JsonTokens::Index read_flat(JsonTokens::Index i);
  JsonTokens::Index read_nested(JsonTokens::Index i);
  JsonTokens::Index read_member(std::string_view key, JsonTokens::Index i);
  JsonTokens::Index read_leaf(std::string_view name, JsonTokens::Index i);
  JsonTokens::Index read_skipped(JsonTokens::Index i);
  bool read_scalar(JsonTokens::Index i, Entry& entry);
  bool read_text(JsonTokens::Index i, Entry& entry);
  static bool take_number(std::string_view text, Entry& entry);
  bool has_bad_name(std::string_view name) const;
  bool read_plain_number(std::string_view name, JsonTokens::Index i);
  std::string_view joined(std::string_view key);
  void drop_repeated_members(std::size_t first_member);
  void drop_repeated_names();
  bool few_and_unique() const;

  JsonTokens& tokens_;
  Arena& arena_;
  Options options_;
  bool is_object_ = false;
  bool is_flat_ = true;
  std::size_t depth_ = 0;
  std::size_t level_ = 0;  // of the object that is being read
  std::vector<Entry> entries_;
  std::vector<Member> members_;       // a stack: those of the objects that are open
  std::string prefix_;                // names of the objects that are open, a dot behind each
  std::vector<std::uint32_t> order_;  // scratch
};

}  // namespace hourfold
