#include "core/rollup_row.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/bytes.h"
#include "core/check.h"
#include "core/murmur3.h"
#include "core/reading.h"

namespace hourfold {
namespace {

constexpr std::size_t kHourBytes = 8;
constexpr std::size_t kDeviceBegin = 1;
constexpr std::size_t kAroundDevice = 1 + 1 + kHourBytes;  // salt, NUL, hour
constexpr std::uint32_t kMaxBuckets = 128;
constexpr std::size_t kMaxKeyBytes = 32'767;  // HBase keeps the length in a signed 16-bit number
constexpr std::string_view kMetaRowKey = "\xffhourfold";

double read_double(std::string_view bytes) { return std::bit_cast<double>(read_be64(bytes.data())); }

std::int64_t read_int64(std::string_view bytes) { return static_cast<std::int64_t>(read_be64(bytes.data())); }

std::string double_bytes(double value) {
  std::string out;
  put_double(out, value);
  return out;
}

bool read_wide_cell(std::string_view suffix, std::string_view value, Rollup& rollup) {
  if (value.size() != 8) return false;
  if (suffix == ":min") {
    rollup.min = read_double(value);
  } else if (suffix == ":max") {
    rollup.max = read_double(value);
  } else if (suffix == ":sum") {
    rollup.sum = read_double(value);
  } else if (suffix == ":count") {
    rollup.count = read_int64(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::uint8_t salt_of(std::string_view device, std::uint32_t buckets) {
  HF_CHECK(buckets >= 1 && buckets <= kMaxBuckets);
  return static_cast<std::uint8_t>(murmur3_32(device) % buckets);
}

std::string row_key(std::string_view device, HourStart hour, std::uint32_t buckets) {
  std::string key;
  key.reserve(device.size() + kAroundDevice);
  key.push_back(static_cast<char>(salt_of(device, buckets)));
  key.append(device);
  key.push_back('\0');
  put_be64(key, static_cast<std::uint64_t>(hour.ms));
  return key;
}

std::optional<RowKeyParts> split_row_key(std::string_view key) {
  if (key.size() <= kAroundDevice) return std::nullopt;
  const auto salt = static_cast<std::uint8_t>(key[0]);
  const std::string_view device = key.substr(kDeviceBegin, key.size() - kAroundDevice);
  const HourStart hour{read_int64(key.substr(key.size() - kHourBytes))};
  if (salt >= kMaxBuckets || device.find('\0') != std::string_view::npos) return std::nullopt;
  if (key[key.size() - kHourBytes - 1] != '\0' || hour.ms % kHourMs != 0) return std::nullopt;
  if (hour.ms < 0 || hour.ms > kMaxEventMs) return std::nullopt;
  return RowKeyParts{salt, device, hour};
}

std::string_view meta_row_key() { return kMetaRowKey; }

std::int64_t cell_timestamp(HourStart hour, Generation generation, Revision revision) {
  HF_CHECK(generation.value >= 0 && revision.value >= 0 && revision <= kMaxRevision);
  return hour.ms + generation.value * kHourMs + revision.value;
}

CellStamp split_cell_timestamp(std::int64_t timestamp, HourStart hour) {
  const std::int64_t hours = floor_div(timestamp, kHourMs);
  const std::int64_t generation = hours - hour.ms / kHourMs;
  using Limits = std::numeric_limits<std::int32_t>;
  return {Generation{
              static_cast<std::int32_t>(std::clamp<std::int64_t>(generation, Limits::min(), Limits::max()))},
          Revision{timestamp - hours * kHourMs}};
}

void RowPut::add(char family, std::string_view qualifier, std::string_view value) {
  HF_CHECK(buffer_.size() + qualifier.size() + value.size() <= std::numeric_limits<std::uint32_t>::max());
  cells_.push_back({static_cast<std::uint32_t>(buffer_.size()), static_cast<std::uint32_t>(qualifier.size()),
                    static_cast<std::uint32_t>(value.size()), family});
  buffer_.append(qualifier).append(value);
}

RowPut::Cell RowPut::cell(std::size_t i) const {
  const Span& span = cells_[i];
  const std::string_view bytes =
      std::string_view(buffer_).substr(span.begin, span.qualifier_size + span.value_size);
  return {span.family, bytes.substr(0, span.qualifier_size), bytes.substr(span.qualifier_size)};
}

std::optional<std::string> why_unwritable(const RowPut& put) {
  if (put.key().empty()) return "the row key is empty";
  if (put.key().size() > kMaxKeyBytes) {
    return "the row key has " + std::to_string(put.key().size()) + " bytes, more than " +
           std::to_string(kMaxKeyBytes);
  }
  if (put.cell_count() == 0) return "the row has no cells";
  if (put.timestamp() < 0) return "the cell timestamp " + std::to_string(put.timestamp()) + " is negative";
  return std::nullopt;
}

void add_rollup_cells(RowPut& put, std::string_view metric, const Rollup& rollup, RowLayout layout) {
  std::string count;
  put_be64(count, static_cast<std::uint64_t>(rollup.count));
  const std::string min = double_bytes(rollup.min);
  const std::string max = double_bytes(rollup.max);
  const std::string sum = double_bytes(rollup.sum);
  if (layout == RowLayout::kPacked) {
    put.add('r', metric, min + max + sum + count);
    return;
  }
  std::string qualifier(metric);
  const auto add = [&](std::string_view suffix, std::string_view value) {
    qualifier.resize(metric.size());
    put.add('r', qualifier.append(suffix), value);
  };
  add(":min", min);
  add(":max", max);
  add(":sum", sum);
  add(":count", count);
}

bool read_rollup_cell(std::string_view qualifier, std::string_view value, RowLayout layout,
                      std::string_view& metric, Rollup& rollup) {
  if (layout == RowLayout::kPacked) {
    if (qualifier.empty() || value.size() != 32) return false;
    metric = qualifier;
    rollup = {read_double(value), read_double(value.substr(8)), read_double(value.substr(16)),
              read_int64(value.substr(24))};
    return true;
  }
  // A metric's own name may hold colons.
  const std::size_t colon = qualifier.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  if (!read_wide_cell(qualifier.substr(colon), value, rollup)) return false;
  metric = qualifier.substr(0, colon);
  return true;
}

}  // namespace hourfold
