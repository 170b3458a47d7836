// Acknowledged Puts of whole rows by a worker that shares no row, until it is known that the topic had not
// grown when they landed. Had it grown, the owner of a new partition may have merged the row before the Put
// and would not do so again: then the window has to be written once more, as one contribution of several.
//
// Invariants: an acknowledgement here holds the committed offset at the first offset of its Put.
// Threads:    the partition's worker.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "core/types.h"
#include "pipeline/window_table.h"

namespace hourfold {

class UnprovenAcks {
 public:
  void add(OpenWindow& entry, Offset first) {
    entry.first_unproven = entry.unproven++ == 0 ? first : std::min(entry.first_unproven, first);
    while (!lowest_.empty() && lowest_.back().second >= first) lowest_.pop_back();
    lowest_.emplace_back(next_, first);
    acks_.emplace_back(&entry, first);
    ++next_;
  }

  // How many there have been.
  std::uint64_t count() const { return next_; }
  std::size_t size() const { return acks_.size(); }
  std::optional<Offset> lowest() const {
    return lowest_.empty() ? std::nullopt : std::optional(lowest_.front().second);
  }

  // The first `count` of all that there have been are proven. Calls done(entry) for windows with none left.
  template <class Done>
  void prove(std::uint64_t count, const Done& done) {
    while (!acks_.empty() && next_ - acks_.size() < count) {
      if (!lowest_.empty() && lowest_.front().first == next_ - acks_.size()) lowest_.pop_front();
      OpenWindow& entry = *acks_.front().first;
      acks_.pop_front();
      if (--entry.unproven == 0) done(entry);
    }
  }

  // None will ever be proven: gives them back, each with its first offset.
  std::deque<std::pair<OpenWindow*, Offset>> give_up() {
    for (const auto& [entry, first] : acks_) entry->unproven = 0;
    lowest_.clear();
    return std::exchange(acks_, {});
  }

 private:
  std::deque<std::pair<OpenWindow*, Offset>> acks_;
  std::deque<std::pair<std::uint64_t, Offset>> lowest_;  // ascending: the minima of what is left from each on
  std::uint64_t next_ = 0;
};

}  // namespace hourfold
