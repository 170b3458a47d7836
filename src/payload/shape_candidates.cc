#include "payload/shape_candidates.h"

#include <algorithm>
#include <set>

#include "payload/field_options.h"
#include "payload/field_words.h"

namespace hourfold {
namespace {

constexpr int kUnmistakable = 400;

// A field cannot be two things, nor lie inside of one that is no object of metrics.
bool clash(const DeviceOption& device, const TimeOption& time, const MetricsOption& metrics) {
  std::vector<std::string> pointers = device.sources;
  pointers.push_back(time.source);
  if (metrics.metric) {
    pointers.push_back(*metrics.metric);
    pointers.push_back(metrics.value);
  }
  std::set<std::string> all(pointers.begin(), pointers.end());
  return all.size() != pointers.size() || all.contains(metrics.metrics);
}

ReadingShape shape_of(const DeviceOption& device, const TimeOption& time, const MetricsOption& metrics) {
  ReadingShape shape;
  shape.device = device.sources;
  shape.time = time.source;
  shape.time_unit = time.unit;
  shape.time_strings = time.strings;
  if (!time.names_zone) shape.time_zone_minutes = 0;
  shape.metric = metrics.metric;
  if (metrics.metric) shape.value = metrics.value;
  if (!metrics.metric) shape.metrics = metrics.metrics;
  return shape;
}

bool has_only(const SampleJson& object, const std::set<std::string>& names) {
  if (!object.is_object()) return false;
  const auto items = object.items();
  return std::all_of(items.begin(), items.end(), [&names](const auto& member) {
    return names.contains(member.key()) || member.key().starts_with("b");
  });
}

bool is_senml(const SampleJson& object) {
  static const std::set<std::string> kLabels = {"n", "u", "t", "ut", "v", "vs", "vb", "vd", "s"};
  static const std::set<std::string> kBases = {"bn", "bt", "bu", "bv", "bs", "bver"};
  if (!has_only(object, kLabels)) return false;
  const auto items = object.items();
  const bool sound = std::all_of(items.begin(), items.end(), [](const auto& member) {
    return kLabels.contains(member.key()) || kBases.contains(member.key());
  });
  const bool named = object.contains("n") || object.contains("bn");
  return sound && (named || object.contains("v") || object.contains("s"));
}

bool is_thingsboard(const SampleJson& object) {
  return object.is_object() && object.size() == 2 && object.contains("ts") && object.contains("values") &&
         object["values"].is_object();
}

bool is_gateway(const SampleJson& object) {
  if (!object.is_object() || object.empty()) return false;
  const auto items = object.items();
  return std::all_of(items.begin(), items.end(), [](const auto& device) {
    const SampleJson& list = device.value();
    return list.is_array() && !list.empty() && std::any_of(list.begin(), list.end(), is_thingsboard);
  });
}

template <class Is>
std::size_t count_of(const SampleLayer& layer, Is is) {
  return static_cast<std::size_t>(std::count_if(layer.readings.begin(), layer.readings.end(),
                                                [&is](const SampleJson* object) { return is(*object); }));
}

}  // namespace

void add_json_candidates(const SampleLayer& layer, const RecordCopy& record,
                         std::vector<ShapeCandidate>& out) {
  const auto devices = device_options(layer, record);
  const auto times = time_options(layer);
  for (const MetricsOption& metrics : metrics_options(layer)) {
    for (const DeviceOption& device : devices) {
      for (const TimeOption& time : times) {
        if (clash(device, time, metrics)) continue;
        ShapeCandidate candidate{shape_of(device, time, metrics),
                                 layer.points + metrics.points + device.points + time.points};
        candidate.shape.body = layer.body;
        out.push_back(std::move(candidate));
      }
    }
  }
}

void add_list_formats(const SampleLayer& layer, const RecordCopy& record, std::vector<ShapeCandidate>& out) {
  const std::size_t all = layer.readings.size();
  ReadingShape shape;
  shape.body = layer.body;
  const int points = kUnmistakable + std::min(layer.points, 0);
  if (count_of(layer, is_senml) == all &&
      count_of(layer, [](const SampleJson& o) { return o.contains("n") || o.contains("bn"); }) > 0) {
    shape.format = PayloadFormat::kSenml;
    shape.device = {"name"};
    out.push_back({shape, points});
  }
  if (count_of(layer, is_gateway) == all) {
    shape.format = PayloadFormat::kThingsboardGateway;
    shape.device = {"name"};
    out.push_back({shape, points});
  }
  if (!layer.body && count_of(layer, is_thingsboard) > 0 && all <= 2 * count_of(layer, is_thingsboard)) {
    shape.format = PayloadFormat::kThingsboard;
    shape.device = device_of_record(record).sources;
    const bool has_device = device_options(layer, record).front().sources.front().starts_with('/');
    if (!has_device) out.push_back({shape, points});
  }
}

}  // namespace hourfold
