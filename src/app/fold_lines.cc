#include "app/fold_lines.h"

#include <algorithm>
#include <vector>

#include "payload/framed_parser.h"

namespace hourfold {
namespace {

constexpr std::string_view kArrivalField = "/arrival_ts";

bool is_empty(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool decode_hex(std::string_view text, std::string& bytes) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  bytes.clear();
  if (text.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes += static_cast<char>(high << 4 | low);
  }
  return true;
}

// Whether the field is something else already.
bool is_named(const ReadingShape& shape, std::string_view field) {
  return shape.time == field || shape.metrics == field || shape.metric == field || shape.value == field ||
         std::find(shape.device.begin(), shape.device.end(), field) != shape.device.end();
}

void append_rows(std::string_view device, HourStart hour, const Window& window,
                 std::vector<LineFolder::Row>& rows) {
  for (std::size_t slot = 0; slot < window.schema().size(); ++slot) {
    rows.push_back({device, window.schema().name(slot), hour, window.aggregate(slot).rollup()});
  }
}

}  // namespace

ReadingShape shape_for_lines(ReadingShape shape) {
  if (shape.arrival != "record") return shape;
  shape.arrival_falls_back_to_event = true;
  if (has_pointers(shape.format) && !is_named(shape, kArrivalField)) shape.arrival = kArrivalField;
  return shape;
}

LineFolder::LineFolder(const ReadingConfig& reading, const ArrivalPolicy& policy, AvroSchemas* schemas)
    : deduplicate_(reading.deduplicate),
      binary_(reading.shape.format == PayloadFormat::kAvro),
      policy_(policy),
      parser_(make_payload_parser(shape_for_lines(reading.shape), schemas)) {
  tools_.max_metrics = reading.max_metrics;
}

std::optional<std::int32_t> LineFolder::schema_id(std::string_view line) {
  std::string front;
  return decode_hex(line.substr(0, 2 * kFramingBytes), front) ? framed_schema_id(front) : std::nullopt;
}

std::uint32_t LineFolder::fold(std::string_view line) {
  if (is_empty(line)) return 0;
  const Offset offset{static_cast<std::int64_t>(counts_.lines++)};
  const std::uint64_t malformed_before = counts_.malformed;
  const std::string_view value = binary_ && decode_hex(line, value_) ? std::string_view(value_) : line;
  const ParsedRecord& record = parser_->parse({value});
  for (std::size_t i = 0; i < record.rejected_metrics.size(); ++i) {
    counts_.rejected_metrics[i] += record.rejected_metrics[i];
  }
  std::uint32_t index = 0;
  for (const ParsedReading& reading : record.readings) fold_reading(record, reading, {offset, index++});
  return static_cast<std::uint32_t>(counts_.malformed - malformed_before);
}

void LineFolder::fold_reading(const ParsedRecord& record, const ParsedReading& reading, Position position) {
  ++counts_.readings;
  if (reading.malformed != Malformed::kNone) {
    ++counts_.malformed;
    ++counts_.malformed_by_reason[static_cast<std::size_t>(reading.malformed)];
    last_malformed_ = reading.malformed;
    return;
  }
  switch (classify(reading.event_ms, reading.arrival_ms, policy_)) {
    case Verdict::kQuarantine:
      ++counts_.quarantined;
      return;
    case Verdict::kArchive:
      ++counts_.archived;
      return;
    case Verdict::kFold:
      break;
  }
  if (reading.metric_count == 0) {
    ++counts_.folded;
  } else {
    fold_into_window(record, reading, position);
  }
}

void LineFolder::fold_into_window(const ParsedRecord& record, const ParsedReading& reading,
                                  Position position) {
  const HourStart hour = HourStart::of(reading.event_ms);
  const auto time = static_cast<std::uint32_t>(reading.event_ms - hour.ms);
  Window& window = window_of(reading.device, hour);
  const FoldOutcome outcome =
      window.fold(record.metrics_of(reading), time, position, reading.arrival_ms, tools_);
  counts_.duplicate_values += outcome.duplicate_values;
  counts_.conflicts += outcome.conflict ? 1 : 0;
  switch (outcome.result) {
    case FoldResult::kFolded:
      ++counts_.folded;
      break;
    case FoldResult::kDuplicate:
      ++counts_.duplicate;
      break;
    case FoldResult::kHourFull:
      ++counts_.quarantined;
      ++counts_.hour_full;
      break;
    case FoldResult::kContributionFull:
      ++counts_.malformed;
      ++counts_.contribution_full;
      last_malformed_ = Malformed::kTooMany;
      break;
    case FoldResult::kAlreadyCounted:
      HF_CHECK(false);  // positions only grow here
  }
}

// Lines of one device and hour tend to follow one another.
Window& LineFolder::window_of(std::string_view device, HourStart hour) {
  if (last_device_ == nullptr || last_device_->first != device) {
    auto found = devices_.find(device);
    if (found == devices_.end()) found = devices_.try_emplace(std::string(device)).first;
    last_device_ = &*found;
  }
  Device& known = last_device_->second;
  if (known.last_window == nullptr || known.last_hour != hour) {
    known.last_window = &known.windows.try_emplace(hour, deduplicate_, tools_.schemas).first->second;
    known.last_hour = hour;
  }
  return *known.last_window;
}

void LineFolder::each_row(const std::function<void(const Row&)>& on_row) {
  std::vector<Devices::const_pointer> sorted;
  sorted.reserve(devices_.size());
  for (const auto& device : devices_) sorted.push_back(&device);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  std::vector<Row> rows;
  for (const auto* device : sorted) {
    rows.clear();
    for (const auto& [hour, window] : device->second.windows) append_rows(device->first, hour, window, rows);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.metric < b.metric; });
    for (const Row& row : rows) on_row(row);
    counts_.rows += rows.size();
  }
}

}  // namespace hourfold
