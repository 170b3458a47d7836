#include "app/payload_report.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "app/output.h"
#include "payload/avro_sample.h"
#include "payload/explain.h"
#include "payload/payload_parser.h"
#include "payload/plausible_time.h"

namespace hourfold {
namespace {

constexpr std::size_t kMostExplained = 50;  // readings, of a reason

EpochMs arrival_of(const ReadingShape& shape, PayloadParser& parser, const RecordCopy& record, EpochMs now) {
  if (shape.time == "record") return now;
  RecordView view = view_of(record);
  view.timestamp_ms = now;
  EpochMs newest = -1;
  for (const ParsedReading& reading : parser.parse(view).readings) {
    if (reading.malformed == Malformed::kNone && is_plausible(reading.event_ms))
      newest = std::max(newest, reading.event_ms);
  }
  return newest < 0 ? now : newest;
}

std::string explain_verdict(const ReportedReading& reading, EpochMs arrival_ms, const ArrivalPolicy& policy) {
  if (reading.verdict == Verdict::kQuarantine)
    return "Goes to quarantine: it is more than policy.max_future (" + format_duration(policy.max_future_ms) +
           ") later than its arrival, " + format_utc(arrival_ms) + ".";
  if (reading.verdict == Verdict::kArchive)
    return "Goes to the archive: it is more than policy.max_age (" + format_duration(policy.max_age_ms) +
           ") older than its arrival, " + format_utc(arrival_ms) + ".";
  return "";
}

class Reporter {
 public:
  Reporter(const Config& config, EpochMs now, AvroSchemas* schemas)
      : config_(config),
        now_(now),
        schemas_(schemas),
        parser_(make_payload_parser(config.reading.shape, schemas)) {}

  PayloadReport report(const std::vector<PayloadSample>& samples) {
    for (const PayloadSample& sample : samples) add(sample);
    return std::move(report_);
  }

 private:
  void add(const PayloadSample& sample);
  // What explanations look at: the sample, or the JSON that it stands for.
  struct Told {
    ReadingShape shape;
    RecordCopy record;
  };
  Told told(const RecordCopy& record) const;
  void add_readings(const Told& told, const ParsedRecord& parsed, ReportedRecord& out);
  // Looking for reasons reads the sample again: enough is enough.
  bool explains_another(Malformed reason) {
    return explained_[static_cast<std::size_t>(reason)]++ < kMostExplained;
  }
  void count(const ReportedReading& reading);
  void note_partitioning(const RecordCopy& record, const ReportedRecord& reported);
  void note(const std::string& text) {
    if (std::find(report_.notes.begin(), report_.notes.end(), text) == report_.notes.end())
      report_.notes.push_back(text);
  }

  const Config& config_;
  const EpochMs now_;
  AvroSchemas* const schemas_;
  std::unique_ptr<PayloadParser> parser_;
  std::array<std::size_t, static_cast<std::size_t>(Malformed::kCount)> explained_{};
  PayloadReport report_;
};

void Reporter::add(const PayloadSample& sample) {
  ReportedRecord& out = report_.records.emplace_back();
  out.name = sample.name;
  out.tombstone = !sample.record.value;
  if (out.tombstone) return;
  RecordCopy record = sample.record;
  const ReadingShape& shape = config_.reading.shape;
  if (record.timestamp_ms < 0) record.timestamp_ms = arrival_of(shape, *parser_, record, now_);
  const ParsedRecord& parsed = parser_->parse(view_of(record));
  const Told words = told(record);
  add_readings(words, parsed, out);
  out.rejected = parsed.rejected_metrics;
  for (std::size_t i = 0; i < out.rejected.size(); ++i) {
    if (out.rejected[i] == 0) continue;
    report_.rejected += out.rejected[i];
    out.rejected_words.push_back(
        explain_rejected(static_cast<MetricReject>(i), out.rejected[i], words.shape, words.record));
  }
  note_partitioning(record, out);
}

Reporter::Told Reporter::told(const RecordCopy& record) const {
  const ReadingShape& shape = config_.reading.shape;
  if (schemas_ != nullptr) {
    if (auto json = avro_sample_as_json(record, shape, *schemas_))
      return {json_shape_of(shape), std::move(*json)};
  }
  return {shape, record};
}

void Reporter::add_readings(const Told& told, const ParsedRecord& parsed, ReportedRecord& out) {
  for (std::size_t i = 0; i < parsed.readings.size(); ++i) {
    const ParsedReading& reading = parsed.readings[i];
    ReportedReading& reported = out.readings.emplace_back();
    const SamplePlace place{told.shape, told.record, i, parsed.readings.size()};
    reported.malformed = reading.malformed;
    if (reading.malformed != Malformed::kNone) {
      if (explains_another(reading.malformed))
        reported.explanation = explain_malformed(reading.malformed, place);
    } else {
      reported.device = reading.device;
      reported.event_ms = reading.event_ms;
      reported.verdict = classify(reading.event_ms, reading.arrival_ms, config_.policy);
      if (!is_plausible(reading.event_ms) && explains_another(Malformed::kNone))
        reported.explanation = explain_time(reading.event_ms, place);
      if (reported.explanation.empty())
        reported.explanation = explain_verdict(reported, reading.arrival_ms, config_.policy);
      for (const Metric& metric : parsed.metrics_of(reading))
        reported.metrics.emplace_back(metric.name, metric.value);
    }
    count(reported);
  }
}

void Reporter::count(const ReportedReading& reading) {
  ++report_.readings;
  report_.folded += reading.folded() ? 1U : 0U;
  report_.malformed += reading.malformed != Malformed::kNone ? 1U : 0U;
  if (reading.malformed != Malformed::kNone) return;
  report_.quarantined += reading.verdict == Verdict::kQuarantine ? 1U : 0U;
  report_.archived += reading.verdict == Verdict::kArchive ? 1U : 0U;
}

// by_device rests on keys that are the devices.
void Reporter::note_partitioning(const RecordCopy& record, const ReportedRecord& reported) {
  if (config_.kafka.partitioning != Partitioning::kByDevice) return;
  std::set<std::string> devices;
  for (const ReportedReading& reading : reported.readings) {
    if (reading.malformed == Malformed::kNone) devices.insert(reading.device);
  }
  if (devices.size() > 1) {
    note(
        "A record has readings of several devices, so its key cannot be the device: set \"partitioning\": "
        "\"any\" in "
        "the kafka section (\"by_device\" is the default).");
  } else if (record.key && devices.size() == 1 && *devices.begin() != *record.key) {
    note("The record's key is \"" + *record.key + "\" and the device \"" + *devices.begin() +
         "\": with \"partitioning\": \"by_device\", the default, they must be the same. If the key keeps "
         "each device "
         "in one partition all the same, set \"trusted\" in the kafka section, else \"any\".");
  }
}

}  // namespace

const char* ReportedReading::outcome() const {
  if (malformed != Malformed::kNone) return "malformed";
  if (verdict == Verdict::kQuarantine) return "quarantine";
  return verdict == Verdict::kArchive ? "archive" : "folded";
}

PayloadReport report_of(const Config& config, const std::vector<PayloadSample>& samples, EpochMs now,
                        AvroSchemas* schemas) {
  return Reporter(config, now, schemas).report(samples);
}

}  // namespace hourfold
