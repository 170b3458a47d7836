// Lines of text, each a record, folded into hourly rollups by the same core as the service: what `fold` does
// between reading and printing. Where values are binary (Avro), a line has them in hexadecimal digits.
//
// Invariants: folded + duplicate + quarantined + archived + malformed = readings. Rows are a function of the
// lines and their order. Threads:    one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/classify.h"
#include "core/config.h"
#include "core/window.h"
#include "payload/payload_parser.h"

namespace hourfold {

struct FoldCounts {
  std::uint64_t lines = 0;  // without empty ones
  std::uint64_t readings = 0;
  std::uint64_t folded = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t archived = 0;
  std::uint64_t malformed = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t duplicate_values = 0;
  std::uint64_t rows = 0;  // hours of a device and a metric
  std::array<std::uint64_t, static_cast<std::size_t>(Malformed::kCount)> malformed_by_reason{};
  std::array<std::uint64_t, static_cast<std::size_t>(MetricReject::kCount)> rejected_metrics{};
  std::uint64_t hour_full = 0;          // of quarantined
  std::uint64_t contribution_full = 0;  // of malformed
};

// Arrival is /arrival_ts where a line has it, else the event time; unless the configuration names another
// field, which then must be there.
ReadingShape shape_for_lines(ReadingShape shape);

class LineFolder {
 public:
  // schemas: of Avro, else null. Outlive the folder, and know those of a line before it is folded.
  LineFolder(const ReadingConfig& reading, const ArrivalPolicy& policy, AvroSchemas* schemas = nullptr);

  // The schema that must be known before the line is folded, if there is one.
  static std::optional<std::int32_t> schema_id(std::string_view line);
  // Readings of the line that are malformed; 0 for most.
  std::uint32_t fold(std::string_view line);
  const FoldCounts& counts() const { return counts_; }
  // Why the last malformed reading was; for messages.
  Malformed last_malformed() const { return last_malformed_; }

  struct Row {
    std::string_view device;
    std::string_view metric;
    HourStart hour;
    Rollup rollup;
  };
  // By device bytes, metric bytes, hour.
  void each_row(const std::function<void(const Row&)>& on_row);

 private:
  struct Device {
    std::map<HourStart, Window> windows;
    HourStart last_hour = HourStart::lowest();
    Window* last_window = nullptr;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Devices = std::unordered_map<std::string, Device, Hash, std::equal_to<>>;

  void fold_reading(const ParsedRecord& record, const ParsedReading& reading, Position position);
  void fold_into_window(const ParsedRecord& record, const ParsedReading& reading, Position position);
  Window& window_of(std::string_view device, HourStart hour);

  const bool deduplicate_;
  const bool binary_;
  std::string value_;  // of the line, if it is binary
  const ArrivalPolicy policy_;
  std::unique_ptr<PayloadParser> parser_;
  FoldTools tools_;
  Devices devices_;
  Devices::value_type* last_device_ = nullptr;
  FoldCounts counts_;
  Malformed last_malformed_ = Malformed::kNone;
};

}  // namespace hourfold
