// Which metrics were left out, by name where the shape says where they are.
#include <algorithm>
#include <set>

#include "core/field_source.h"
#include "payload/explain.h"
#include "payload/explain_words.h"
#include "payload/json_number.h"
#include "payload/metric_selector.h"
#include "payload/payload_parser.h"
#include "payload/sample_outline.h"

namespace hourfold {
namespace {

// Fields of the reading that are something else.
std::set<std::string> named_pointers(const ReadingShape& shape) {
  std::set<std::string> pointers;
  const auto add = [&pointers](const std::string& source) {
    if (field_source(source).kind == FieldSource::Kind::kPointer) pointers.insert(source);
  };
  add(shape.time);
  add(shape.arrival);
  for (const std::string& part : shape.device) add(part);
  return pointers;
}

bool is_rejected(MetricReject reason, const SampleJson& value) {
  switch (reason) {
    case MetricReject::kString:
      return value.is_string();
    case MetricReject::kBoolean:
      return value.is_boolean();
    case MetricReject::kArray:
      return value.is_array();
    default:
      return false;
  }
}

// A number in quotes, where those are numbers.
bool is_taken(const ReadingShape& shape, const SampleJson& value) {
  if (!shape.numeric_strings || !value.is_string()) return false;
  std::string text = value.get<std::string>();
  if (shape.decimal_comma) std::replace(text.begin(), text.end(), ',', '.');
  return parse_json_double(text).kind == NumberKind::kFinite;
}

// `state="on", mode="auto"`
std::string examples_of(MetricReject reason, const ReadingShape& shape, const RecordCopy& record) {
  constexpr std::size_t kMost = 5;
  std::string examples;
  std::set<std::string> names;
  MetricSelector selector(shape.selection);
  const std::set<std::string> others = named_pointers(shape);
  const std::string base = shape.metric ? shape.value : shape.metrics;
  for (const SampleReading& reading : sample_readings(*record.value, shape)) {
    const SampleOutline outline({&reading.element});
    for (const OutlineField& field : outline.fields()) {
      const bool inside = field.pointer.starts_with(base + "/") || (shape.metric && field.pointer == base);
      const SampleJson& value = *field.values.front();
      if (!inside || others.contains(field.pointer) || !is_rejected(reason, value)) continue;
      std::string name = field.pointer.substr(std::min(field.pointer.size(), base.size() + 1));
      std::replace(name.begin(), name.end(), '/', '.');
      if (name.empty()) name = field.name;
      if (!selector.decide(name).keep || is_taken(shape, value)) continue;
      if (!names.insert(name).second || names.size() > kMost) continue;
      examples += (examples.empty() ? "" : ", ") + name + (value.is_array() ? "" : "=" + shown(value));
    }
  }
  if (names.size() > kMost) examples += ", …";
  return examples;
}

std::size_t texts_left_out(const ReadingShape& shape, const RecordCopy& record) {
  const auto parser = make_payload_parser(shape);
  return parser->parse(view_of(record)).rejected_metrics[static_cast<std::size_t>(MetricReject::kString)];
}

std::string explain_texts(std::size_t count, ReadingShape shape, const RecordCopy& record,
                          const std::string& which) {
  shape.numeric_strings = true;
  std::size_t left = texts_left_out(shape, record);
  shape.decimal_comma = true;
  const std::size_t left_with_comma = texts_left_out(shape, record);
  std::string option = "\"numeric_strings\": true";
  if (left_with_comma < left) option += " with \"decimal_comma\": true";
  left = std::min(left, left_with_comma);
  const bool one = count == 1;
  const std::string texts = std::to_string(count) + (one ? " text" : " texts") + which;
  if (left >= count)
    return texts + (one ? " is no number" : " are no numbers") + "; select.deny silences what is no metric.";
  if (left == 0)
    return std::to_string(count) + (one ? " number" : " numbers") + " in quotes" + which + ": " + option +
           " takes " + (one ? "it." : "them.");
  return texts + ", of which " + std::to_string(count - left) + " would be taken as numbers with " + option +
         ".";
}

}  // namespace

std::string explain_rejected(MetricReject reason, std::size_t count, const ReadingShape& shape,
                             const RecordCopy& record) {
  const bool one = count == 1;
  const auto subject = [&](const char* what, const char* whats) {
    return std::to_string(count) + " " + (one ? what : whats);
  };
  const std::string examples =
      shape.format == PayloadFormat::kJson ? examples_of(reason, shape, record) : std::string();
  const std::string which = examples.empty() ? "" : " (" + examples + ")";
  const std::string is_none = one ? " is no number" : " are no numbers";
  switch (reason) {
    case MetricReject::kString:
      return explain_texts(count, shape, record, which);
    case MetricReject::kBoolean:
      return subject("value is", "values are") + " true or false" + which +
             ": \"booleans\": true takes true as 1 and false as 0.";
    case MetricReject::kArray:
      return subject("list", "lists") + which + is_none + ": let the producer send single values.";
    case MetricReject::kNotFinite:
      return subject("value is", "values are") + " NaN or infinite: the device had nothing to say.";
    case MetricReject::kOutOfRange:
      return subject("number is", "numbers are") + " larger than a double can be.";
    case MetricReject::kBadName:
      return subject("metric has a name", "metrics have names") +
             " that cannot be: empty, longer than 128 bytes, or with control characters.";
    case MetricReject::kCount:
      break;
  }
  return "";
}

}  // namespace hourfold
