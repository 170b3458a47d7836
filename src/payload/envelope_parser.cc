#include "payload/envelope_parser.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/field_source.h"
#include "payload/base64.h"
#include "payload/record_text.h"

namespace hourfold {
namespace {

using Kind = FieldSource::Kind;
using Role = PointerTree::Role;

void add_if_here(PointerTree& tree, const std::string& text, Role role, std::size_t part = 0) {
  const FieldSource source = field_source(text);
  if (source.kind == Kind::kEnvelope) tree.add(source.name, role, part);
}

PointerTree pointers_of(const ReadingShape& shape) {
  PointerTree tree;
  tree.add(*shape.body, Role::kBody);
  add_if_here(tree, shape.time, Role::kTime);
  for (std::size_t part = 0; part < shape.device.size(); ++part)
    add_if_here(tree, shape.device[part], Role::kDevice, part);
  add_if_here(tree, shape.arrival, Role::kArrival);
  return tree;
}

}  // namespace

EnvelopeParser::EnvelopeParser(const ReadingShape& shape, std::unique_ptr<PayloadParser> inner)
    : lines_(shape.format == PayloadFormat::kInflux),
      whole_is_body_(shape.body->empty()),
      inner_(std::move(inner)),
      device_(shape, arena_),
      fields_(shape, pointers_of(shape), tokens_, device_, nullptr) {
  if (shape.format == PayloadFormat::kAvro) tokens_.allow_not_finite();
}

void EnvelopeParser::begin(const RecordView& record) {
  outer_ = record;
  envelope_.device.resize(device_.sources().size());
}

void EnvelopeParser::forget_fields() {
  for (std::size_t part = 0; part < envelope_.device.size(); ++part) device_.part(part) = {};
  fields_.time = fields_.arrival = {};
}

EnvelopeParser::Index EnvelopeParser::read_object(Index i) {
  forget_fields();
  const Index next = fields_.read(i);
  if (next == kBroken) return kBroken;
  constexpr std::size_t kOwnDepth = 1;
  if (fields_.depth + kOwnDepth > kMaxDepth) {
    add_malformed(Malformed::kTooDeep);
  } else {
    read_body(fields_.body);
  }
  return next;
}

void EnvelopeParser::read_scalar(Index i) {
  if (!whole_is_body_) return JsonDocuments::read_scalar(i);
  forget_fields();
  read_body(i);
}

void EnvelopeParser::read_body(Index i) {
  std::string_view body;
  std::string_view text;
  const char first = i == JsonFields::kBroken && !whole_is_body_ ? '\0' : tokens_.first(i);
  if (first == '{' || first == '[') {
    body = tokens_.container(i);
  } else if (first != '"' || !tokens_.string(i, text) || !find_text(text, body)) {
    return add_malformed(Malformed::kNoBody);
  }
  for (std::size_t part = 0; part < envelope_.device.size(); ++part)
    envelope_.device[part] = device_.part(part);
  envelope_.time = fields_.time;
  envelope_.arrival = fields_.arrival;
  RecordView inner = outer_;
  inner.value = body;
  inner.envelope = &envelope_;
  take(inner_->parse(inner));
}

// The document that a text is, or holds in base64, which has no bracket and no space.
bool EnvelopeParser::find_text(std::string_view text, std::string_view& body) {
  text = trim_record(text);
  body = text;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (text[first] == '{' || text[first] == '[') return true;
  if (!decode_base64(text, decoded_)) return lines_;
  body = decoded_;
  return true;
}

void EnvelopeParser::take(const ParsedRecord& parsed) {
  for (const ParsedReading& reading : parsed.readings) {
    ParsedReading& copy = record_.readings.emplace_back(reading);
    copy.device = kept(reading.device);
    copy.first_metric = static_cast<std::uint32_t>(record_.metrics.size());
    for (const Metric& metric : parsed.metrics_of(reading))
      record_.metrics.push_back({kept(metric.name), metric.value});
  }
  for (std::size_t reason = 0; reason < parsed.rejected_metrics.size(); ++reason)
    record_.rejected_metrics[reason] += parsed.rejected_metrics[reason];
}

// What the inner parser gave out lives until its next document only.
std::string_view EnvelopeParser::kept(std::string_view text) {
  char* const copy = arena_.allocate(text.size());
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

}  // namespace hourfold
