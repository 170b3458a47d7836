#include "payload/propose.h"

#include <algorithm>
#include <set>

#include "core/config.h"
#include "core/reading_section.h"
#include "payload/framed_parser.h"
#include "payload/payload_parser.h"
#include "payload/plausible_time.h"
#include "payload/sample_layers.h"
#include "payload/shape_candidates.h"
#include "payload/try_parse.h"

namespace hourfold {
namespace {

constexpr std::size_t kMostRecords = 50;
constexpr std::size_t kMostBytes = 256 * 1024;  // of a record of many lines

// As many records as it takes to know a topic, with their framing taken off if all have it.
struct Unframed {
  std::vector<RecordCopy> records;
  bool framed = false;
};

bool is_framed_text(const std::string& value) {
  return framed_schema_id(value) && value.size() > kFramingBytes &&
         std::string_view("{[\" ").find(value[kFramingBytes]) != std::string_view::npos;
}

// Records of a foreign kind are left out unless all are.
Unframed unframed(std::span<const RecordCopy> all) {
  Unframed out;
  for (const RecordCopy& record : all) {
    const bool readable = record.value && !foreign_sample(*record.value);
    if (!readable || out.records.size() >= kMostRecords) continue;
    out.records.push_back(record);
    const std::size_t cut = record.value->rfind('\n', kMostBytes);
    if (record.value->size() > kMostBytes && cut != std::string::npos) out.records.back().value->resize(cut);
  }
  out.framed = !out.records.empty() &&
               std::all_of(out.records.begin(), out.records.end(),
                           [](const RecordCopy& record) { return is_framed_text(*record.value); });
  return out;
}

// Whether the configuration takes it for the same; what it refuses cannot be proposed.
bool is_configurable(const ReadingShape& shape) {
  const std::string text = "{\"reading\":" + reading_section(shape, SectionStyle::kOneLine) + "}";
  const auto config = parse_config(text, "proposal", {}, {}, false);
  return config && config->reading.shape == shape;
}

int rank(const Proposal& proposal) {
  constexpr int kAllUsable = 400;
  constexpr int kMetricsThatCount = 20;
  if (proposal.usable == 0) return -1;
  const auto per_reading = static_cast<int>(proposal.metrics / proposal.usable);
  return proposal.points +
         kAllUsable * static_cast<int>(proposal.usable) / static_cast<int>(proposal.readings) +
         2 * std::min(per_reading, kMetricsThatCount);
}

Proposal tried(const ShapeCandidate& candidate, std::span<const RecordCopy> records) {
  const Tried result = try_parse(candidate.shape, records);
  return {candidate.shape, result.readings, result.usable, result.metrics, candidate.points};
}

// Values of other kinds are taken for numbers where a reading would have none otherwise.
void take_other_values(Proposal& proposal, std::span<const RecordCopy> records) {
  const auto improve = [&](auto change) {
    if (proposal.usable == proposal.readings) return;
    ShapeCandidate changed{proposal.shape, proposal.points};
    change(changed.shape);
    Proposal better = tried(changed, records);
    if (better.usable > proposal.usable) proposal = std::move(better);
  };
  improve([](ReadingShape& shape) { shape.numeric_strings = true; });
  improve([](ReadingShape& shape) { shape.numeric_strings = shape.decimal_comma = true; });
  improve([](ReadingShape& shape) { shape.booleans = true; });
}

std::vector<ShapeCandidate> candidates_of(const Unframed& sample) {
  std::vector<ShapeCandidate> candidates;
  std::vector<SampleJson> elements;
  for (const RecordCopy& record : sample.records) {
    std::string_view value = *record.value;
    if (sample.framed) value.remove_prefix(kFramingBytes);
    for (SampleJson& element : sample_elements(sample_documents(value)))
      elements.push_back(std::move(element));
  }
  const RecordCopy& first = sample.records.front();
  const SampleLayers layers(std::move(elements));
  for (const SampleLayer& layer : layers.layers()) {
    add_list_formats(layer, first, candidates);
    add_json_candidates(layer, first, candidates);
  }
  if (layers.layers().empty() && !sample.framed) add_influx_candidate(sample.records, candidates);
  for (ShapeCandidate& candidate : candidates) {
    if (sample.framed) candidate.shape.framing = ValueFraming::kConfluent;
  }
  return candidates;
}

std::optional<Proposal> defaults_if_they_read_all(std::span<const RecordCopy> records) {
  Proposal defaults = tried({}, records);
  if (defaults.usable == 0 || defaults.usable != defaults.readings) return std::nullopt;
  return defaults;
}

std::optional<ForeignSample> foreign_of(std::span<const RecordCopy> all) {
  const auto first =
      std::find_if(all.begin(), all.end(), [](const RecordCopy& r) { return r.value.has_value(); });
  return first == all.end() ? std::nullopt : foreign_sample(*first->value);
}

Proposal avro_of_a_registry() {
  Proposal proposal;
  proposal.shape.format = PayloadFormat::kAvro;
  proposal.shape.framing = ValueFraming::kConfluent;
  proposal.shape.schema_registry = "http://registry:8081";
  proposal.needs_schemas = true;
  return proposal;
}

}  // namespace

Proposals propose(std::span<const RecordCopy> all) {
  Proposals proposals;
  const Unframed sample = unframed(all);
  if (sample.records.empty()) {
    proposals.foreign = foreign_of(all);
    return proposals;
  }
  if (framed_schema_id(*sample.records.front().value) && !is_framed_text(*sample.records.front().value)) {
    proposals.ranked.push_back(avro_of_a_registry());
    return proposals;
  }
  if (const auto defaults = defaults_if_they_read_all(sample.records)) {
    proposals.ranked.push_back(*defaults);
    return proposals;
  }
  for (const ShapeCandidate& candidate : candidates_of(sample)) {
    if (!is_configurable(candidate.shape)) continue;
    Proposal proposal = tried(candidate, sample.records);
    take_other_values(proposal, sample.records);
    if (proposal.usable > 0) proposals.ranked.push_back(std::move(proposal));
  }
  std::stable_sort(proposals.ranked.begin(), proposals.ranked.end(),
                   [](const Proposal& a, const Proposal& b) { return rank(a) > rank(b); });
  return proposals;
}

}  // namespace hourfold
