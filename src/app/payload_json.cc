// The answer of `payload try` for programs.
#include <nlohmann/json.hpp>

#include "app/output.h"
#include "app/payload_print.h"
#include "core/reading_section.h"

namespace hourfold {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ReportedReading& reading) {
  Json out = {{"verdict", reading.outcome()}};
  if (reading.malformed != Malformed::kNone) {
    out["reason"] = to_string(reading.malformed);
  } else {
    out["device"] = reading.device;
    out["ts"] = reading.event_ms;
    out["metrics"] = Json::object();
    for (const auto& [name, value] : reading.metrics) out["metrics"][name] = value;
  }
  if (!reading.explanation.empty()) out["explanation"] = reading.explanation;
  return out;
}

Json json_of(const ReportedRecord& record) {
  Json out = {{"sample", record.name}};
  if (record.tombstone) out["tombstone"] = true;
  out["readings"] = Json::array();
  for (const ReportedReading& reading : record.readings) out["readings"].push_back(json_of(reading));
  for (std::size_t i = 0; i < record.rejected.size(); ++i) {
    if (record.rejected[i] > 0)
      out["rejected_metrics"][std::string(to_string(static_cast<MetricReject>(i)))] = record.rejected[i];
  }
  if (!record.rejected_words.empty()) out["rejected_words"] = record.rejected_words;
  return out;
}

}  // namespace

std::string payload_json(const PayloadAnswer& answer) {
  Json out = Json::object();
  if (answer.foreign != nullptr)
    out["refused"] = {{"what", answer.foreign->what}, {"advice", answer.foreign->advice}};
  if (answer.recognised != nullptr) {
    out["looks_like"] = answer.recognised->looks_like;
    out["notes"] = answer.recognised->notes;
  }
  if (answer.shape != nullptr)
    out["reading"] = Json::parse(reading_section(*answer.shape, SectionStyle::kOneLine));
  if (answer.report != nullptr) {
    for (const std::string& note : answer.report->notes) out["notes"].push_back(note);
    out["counts"] = {
        {"readings", answer.report->readings},       {"folded", answer.report->folded},
        {"quarantined", answer.report->quarantined}, {"archived", answer.report->archived},
        {"malformed", answer.report->malformed},     {"rejected_metrics", answer.report->rejected}};
    out["records"] = Json::array();
    for (const ReportedRecord& record : answer.report->records) out["records"].push_back(json_of(record));
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hourfold
