// The row of one device's hour as every reader of the table sees it: key, columns, values and cell
// timestamps.
//
// Bytes: docs/FORMATS.md, "Rollup row". Pinned by tests/unit/rollup_row_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/aggregate.h"
#include "core/result.h"
#include "core/types.h"

namespace hourfold {

enum class RowLayout : std::uint8_t {
  kWide,    // four cells a metric: <metric>:min, :max, :sum, :count
  kPacked,  // one 32-byte cell a metric: <metric> = min | max | sum | count
};

// murmur3_32(device, seed 0) mod buckets. 1 <= buckets <= 128.
std::uint8_t salt_of(std::string_view device, std::uint32_t buckets);

// salt | device | 0x00 | hour start, 8 bytes big-endian.
std::string row_key(std::string_view device, HourStart hour, std::uint32_t buckets);

struct RowKeyParts {
  std::uint8_t salt;
  std::string_view device;  // into the key
  HourStart hour;
};
// Empty if it is no rollup row (the meta row, a stranger's, an hour outside of 1970 to 9999).
std::optional<RowKeyParts> split_row_key(std::string_view key);

// Key of the one row that holds the table's generation and settings; sorts behind all salts.
std::string_view meta_row_key();

// hour start + generation x 3 600 000 + revision: a later state of an hour outranks every earlier one, and a
// generation all below it.
std::int64_t cell_timestamp(HourStart hour, Generation generation, Revision revision);
struct CellStamp {
  Generation generation;
  Revision revision;
};
// Of any timestamp, also one that is not ours: a generation out of range is the nearest one.
CellStamp split_cell_timestamp(std::int64_t timestamp, HourStart hour);

// One row's Put: all cells carry one timestamp. Bytes lie in one buffer.
class RowPut {
 public:
  RowPut(std::string key, std::int64_t timestamp) : key_(std::move(key)), timestamp_(timestamp) {}

  void add(char family, std::string_view qualifier, std::string_view value);

  const std::string& key() const { return key_; }
  std::int64_t timestamp() const { return timestamp_; }
  std::size_t cell_count() const { return cells_.size(); }
  // Key and cells, for the bounds of batches.
  std::size_t bytes() const { return key_.size() + buffer_.size() + cells_.size() * 16; }

  struct Cell {
    char family;
    std::string_view qualifier;
    std::string_view value;
  };
  Cell cell(std::size_t i) const;

 private:
  struct Span {
    std::uint32_t begin;
    std::uint32_t qualifier_size;
    std::uint32_t value_size;
    char family;
  };
  std::string key_;
  std::int64_t timestamp_;
  std::string buffer_;
  std::vector<Span> cells_;
};

// Why no table takes this row (a key that is empty or over 32,767 bytes, no cells, a negative timestamp);
// empty if it may be written.
std::optional<std::string> why_unwritable(const RowPut& put);

// Adds the `r` cells of one metric.
void add_rollup_cells(RowPut& put, std::string_view metric, const Rollup& rollup, RowLayout layout);

// Reads one `r` cell back into the metric's rollup; false if it is none of ours.
bool read_rollup_cell(std::string_view qualifier, std::string_view value, RowLayout layout,
                      std::string_view& metric, Rollup& rollup);

}  // namespace hourfold
