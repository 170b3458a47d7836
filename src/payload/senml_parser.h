// SenML packs in JSON (RFC 8428): an array of records, of which each says what differs from the base of those
// before.
//
// Name: base name and name. With both, the base name without a separator at its end is the device and the
// name the metric; with one of them alone, what stands behind its last slash is the metric, or `value` if it
// has none. Where the shape takes the device from elsewhere, the same rule gives the metric. Sums (`s`)
// become the metric `<name>.sum`. Time: base time and time, in decimal seconds; below 2^28 it is relative to
// the record's timestamp. Records of one device and time that follow one another are one reading. A base
// field that is broken spoils the rest of its pack.
//
// Threads, ownership, errors: as PayloadParser.
#pragma once

#include <optional>
#include <string_view>

#include "payload/device_parts.h"
#include "payload/event_time.h"
#include "payload/json_documents.h"
#include "payload/metric_list.h"

namespace hourfold {

class SenmlParser final : public JsonDocuments {
 public:
  explicit SenmlParser(const ReadingShape& shape);

 private:
  enum class Label : std::uint8_t {
    kBaseName,
    kBaseTime,
    kBaseValue,
    kBaseSum,
    kVersion,
    kName,
    kTime,
    kValue,
    kString,
    kBoolean,
    kData,
    kSum,
    kIgnored,
    kMustUnderstand,
  };
  struct Base {
    std::string_view name;
    Seconds time;
    double value = 0;
    double sum = 0;
    bool broken = false;
  };
  // One record of a pack.
  struct Entry {
    std::string_view name;
    Seconds time;
    MetricList::Entry value;
    MetricList::Entry sum;
    unsigned values = 0;  // which fields that are a value it has: a bit each
    bool is_number = false;
    bool has_sum = false;
    bool has_base = false;
    Malformed reason = Malformed::kNone;
  };
  struct Names {
    std::string_view device;
    std::string_view metric;
  };

  void begin(const RecordView& record) override;
  Index read_object(Index i) override;
  Index read_array(Index i) override;

  static Label label_of(std::string_view name);
  Index read_entry(Index i);
  void begin_pack();
  void read_field(Label label, Index i);
  void read_value(Label label, Index i);
  void take_number(Index i, MetricList::Entry& out);
  bool take_seconds(Index i, Seconds& out);
  bool take_double(Index i, double& out);
  void apply_entry();
  Names split_name() const;
  std::optional<EpochMs> resolved_time() const;
  void add_metric(std::string_view name, const MetricList::Entry& value, double base);
  std::string_view concatenated(std::string_view a, std::string_view b);
  void finish_reading();

  const bool arrival_falls_back_;
  const FieldSource arrival_source_;
  DeviceParts device_;
  MetricList metrics_;
  EpochMs record_time_ms_ = -1;
  TimeField arrival_;

  bool in_pack_ = false;
  Base base_;
  Entry entry_;

  // The reading that further records may belong to.
  std::optional<ParsedReading> open_;
};

}  // namespace hourfold
