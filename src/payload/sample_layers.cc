#include "payload/sample_layers.h"

#include <algorithm>
#include <utility>

#include "payload/field_words.h"
#include "payload/sample_outline.h"

namespace hourfold {
namespace {

constexpr std::size_t kMostReadings = 256;  // looked at in a layer
constexpr std::size_t kDeepestBody = 4;
constexpr int kInText = 45;
constexpr int kUnnamedList = -15;

bool may_be_body(const SampleJson& value) {
  if (value.is_array()) return !value.empty() && value.front().is_object();
  return value.is_string() && !documents_in_text(value.get<std::string>()).empty();
}

}  // namespace

SampleLayers::SampleLayers(std::vector<SampleJson> elements) : elements_(std::move(elements)) {
  add_whole();
  add_text_documents();
  add_inner_layers();
}

void SampleLayers::add_whole() {
  SampleLayer layer;
  for (const SampleJson& element : elements_) {
    if (element.is_object() && layer.readings.size() < kMostReadings) layer.readings.push_back(&element);
  }
  if (!layer.readings.empty()) layers_.push_back(std::move(layer));
}

void SampleLayers::add_text_documents() {
  SampleLayer layer;
  layer.body = "";
  layer.points = kInText;
  bool in_text = false;
  for (const SampleJson& element : elements_) {
    if (element.is_string()) add_body(element, layer, in_text);
  }
  if (!layer.readings.empty()) layers_.push_back(std::move(layer));
}

void SampleLayers::add_inner_layers() {
  if (layers_.empty() || layers_.front().body) return;
  const SampleOutline outline(layers_.front().readings);
  for (const OutlineField& field : outline.fields()) {
    const bool found =
        field.depth <= kDeepestBody &&
        std::any_of(field.values.begin(), field.values.end(), [](const auto* v) { return may_be_body(*v); });
    if (found) add_inner_layer(field.pointer, field.word);
  }
}

void SampleLayers::add_inner_layer(const std::string& pointer, const std::string& word) {
  SampleLayer layer;
  layer.body = pointer;
  layer.around = layers_.front().readings;
  bool in_text = false;
  for (const SampleJson* around : layer.around) {
    if (const SampleJson* body = at_pointer(*around, pointer)) add_body(*body, layer, in_text);
  }
  const int named = readings_points(word);
  layer.points = in_text ? kInText : named > 0 ? named : kUnnamedList;
  if (!layer.readings.empty()) layers_.push_back(std::move(layer));
}

void SampleLayers::add_body(const SampleJson& body, SampleLayer& layer, bool& in_text) {
  const auto add = [&layer](const SampleJson& reading) {
    if (reading.is_object() && layer.readings.size() < kMostReadings) layer.readings.push_back(&reading);
  };
  if (body.is_object()) add(body);
  if (body.is_array()) std::for_each(body.begin(), body.end(), add);
  if (!body.is_string()) return;
  for (SampleJson& element : sample_elements(documents_in_text(body.get<std::string>()))) {
    decoded_.push_back(std::move(element));
    add(decoded_.back());
    in_text = true;
  }
}

}  // namespace hourfold
