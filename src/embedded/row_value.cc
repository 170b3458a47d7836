#include "embedded/row_value.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/bytes.h"

namespace hourfold {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint64_t kLastTimestamp = std::numeric_limits<std::int64_t>::max();

struct CellView {
  char family;
  std::string_view qualifier;
  std::uint64_t age;  // behind the newest
  std::string_view value;
};

// Walks over the cells of a value.
class CellReader {
 public:
  explicit CellReader(std::string_view value) : reader_(value) {
    valid_ = reader_.u8() == kVersion;
    newest_ = reader_.be64();
    valid_ = valid_ && reader_.ok() && newest_ <= kLastTimestamp;
  }

  // False at the end and when broken.
  bool next(CellView& cell) {
    if (!valid_ || reader_.at_end()) return false;
    cell.family = static_cast<char>(reader_.u8());
    cell.qualifier = reader_.string();
    cell.age = reader_.varint();
    cell.value = reader_.string();
    valid_ = reader_.ok() && cell.age <= newest_;
    return valid_;
  }
  bool valid() const { return valid_; }
  std::uint64_t newest() const { return newest_; }

 private:
  ByteReader reader_;
  std::uint64_t newest_ = 0;
  bool valid_ = false;
};

void begin_value(std::string& out, std::uint64_t newest) {
  put_u8(out, kVersion);
  put_be64(out, newest);
}

void append_cell(std::string& out, const CellView& cell, std::uint64_t older_by) {
  out.push_back(cell.family);
  put_string(out, cell.qualifier);
  put_varint(out, cell.age + older_by);
  put_string(out, cell.value);
}

int order(const CellView& a, const CellView& b) {
  if (a.family != b.family)
    return static_cast<unsigned char>(a.family) < static_cast<unsigned char>(b.family) ? -1 : 1;
  return a.qualifier.compare(b.qualifier);
}

StoredCell stored(const CellView& cell, std::uint64_t newest) {
  return {cell.family, std::string(cell.qualifier), std::string(cell.value),
          static_cast<std::int64_t>(newest - cell.age)};
}

}  // namespace

std::string encode_row(const RowPut& row) {
  std::vector<CellView> cells;
  cells.reserve(row.cell_count());
  for (std::size_t i = 0; i < row.cell_count(); ++i) {
    const RowPut::Cell cell = row.cell(i);
    cells.push_back({cell.family, cell.qualifier, 0, cell.value});
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const CellView& a, const CellView& b) { return order(a, b) < 0; });
  std::string out;
  out.reserve(row.bytes());
  begin_value(out, static_cast<std::uint64_t>(row.timestamp()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool overwritten = i + 1 < cells.size() && order(cells[i], cells[i + 1]) == 0;
    if (!overwritten) append_cell(out, cells[i], 0);
  }
  return out;
}

bool merge_rows(std::string_view earlier, std::string_view later, std::string& out) {
  CellReader a(earlier);
  CellReader b(later);
  const std::uint64_t newest = std::max(a.newest(), b.newest());
  const std::uint64_t a_behind = newest - a.newest();
  const std::uint64_t b_behind = newest - b.newest();
  out.clear();
  out.reserve(std::max(earlier.size(), later.size()));
  begin_value(out, newest);
  CellView cell_a;
  CellView cell_b;
  bool has_a = a.next(cell_a);
  bool has_b = b.next(cell_b);
  while (has_a || has_b) {
    const int side = !has_a ? 1 : !has_b ? -1 : order(cell_a, cell_b);
    const bool take_a = side < 0 || (side == 0 && cell_a.age + a_behind < cell_b.age + b_behind);
    append_cell(out, take_a ? cell_a : cell_b, take_a ? a_behind : b_behind);
    if (side <= 0) has_a = a.next(cell_a);
    if (side >= 0) has_b = b.next(cell_b);
  }
  return a.valid() && b.valid();
}

bool decode_row(std::string_view value, StoredRow& row) {
  CellReader reader(value);
  row.cells.clear();
  for (CellView cell; reader.next(cell);) row.cells.push_back(stored(cell, reader.newest()));
  return reader.valid();
}

bool find_cell(std::string_view value, char family, std::string_view qualifier, bool& found,
               StoredCell& cell) {
  CellReader reader(value);
  found = false;
  for (CellView view; reader.next(view);) {
    if (view.family != family || view.qualifier != qualifier) continue;
    found = true;
    cell = stored(view, reader.newest());
    break;
  }
  return reader.valid();
}

}  // namespace hourfold
