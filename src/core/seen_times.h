// The event times that were folded, as milliseconds within their hour. Exact, never probabilistic.
//
// Invariants: sorted, unique, each below kHourMs. The encoding is a function of the content alone.
// Bytes: docs/FORMATS.md, "Seen times".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/bytes.h"

namespace hourfold {

class SeenTimes {
 public:
  bool contains(std::uint32_t time) const;
  bool is_after_all(std::uint32_t time) const { return times_.empty() || time > times_.back(); }
  // True if it was new. Cheapest when times come in order.
  bool insert(std::uint32_t time);

  std::size_t size() const { return times_.size(); }
  // Where the next insert is likely to write.
  const void* end_in_memory() const { return times_.data() + times_.size(); }
  std::size_t memory_bytes() const { return times_.capacity() * sizeof(std::uint32_t); }
  std::size_t hash() const;
  bool operator==(const SeenTimes&) const = default;

  void append_to(std::string& out) const;
  // Empty if the bytes are none of append_to()'s.
  static std::optional<SeenTimes> read_from(ByteReader& in);

  // How many bytes one more time may add to the encoding at most, where it is later than all others; and
  // anywhere among them, where it may break one run into four.
  static constexpr std::size_t kMaxBytesPerTime = 4;
  static constexpr std::size_t kMaxBytesAmongOthers = 20;

 private:
  std::vector<std::uint32_t> times_;
};

}  // namespace hourfold
