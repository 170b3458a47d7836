#include "payload/field_options.h"

#include <algorithm>

#include "payload/device_parts.h"
#include "payload/field_words.h"
#include "payload/json_number.h"
#include "payload/plausible_time.h"
#include "payload/sample_outline.h"

namespace hourfold {
namespace {

constexpr int kCertain = 60;  // points that leave no doubt
constexpr std::size_t kMostOptions = 4;

std::optional<std::string> device_text(const SampleJson& value) {
  if (value.is_string() && is_device(value.get<std::string>())) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  return std::nullopt;
}

// A device that the record's key or a header names, too, is one.
bool is_in_record(const std::string& id, const RecordCopy& record) {
  if (record.key == id) return true;
  return std::any_of(record.headers.begin(), record.headers.end(),
                     [&id](const RecordHeader& header) { return header.value == id; });
}

int points_of_device(const OutlineField& field, const RecordCopy& record) {
  constexpr int kConfirmed = 40;
  constexpr int kPerLevel = 5;
  bool confirmed = false;
  for (const SampleJson* value : field.values) {
    if (value->is_null()) continue;
    const auto id = device_text(*value);
    if (!id) return 0;
    confirmed |= is_in_record(*id, record);
  }
  const int points = device_points(field.word);
  if (points == 0) return confirmed ? kConfirmed : 0;
  return points + (confirmed ? kConfirmed : 0) - kPerLevel * (static_cast<int>(field.depth) - 1);
}

DeviceOption device_of_places(const SampleOutline& outline) {
  std::vector<const OutlineField*> places;
  for (const OutlineField& field : outline.fields()) {
    const bool everywhere =
        std::all_of(field.values.begin(), field.values.end(),
                    [](const SampleJson* value) { return device_text(*value).has_value(); });
    if (field.depth == 1 && place_rank(field.word) > 0 && everywhere &&
        field.values.size() == outline.objects())
      places.push_back(&field);
  }
  constexpr std::size_t kMostParts = 8;
  if (places.empty() || places.size() > kMostParts) return {{}, 0};
  std::stable_sort(places.begin(), places.end(), [](const OutlineField* a, const OutlineField* b) {
    return place_rank(a->word) < place_rank(b->word);
  });
  DeviceOption option{{}, places.size() > 1 ? 48 : 34};
  for (const OutlineField* place : places) option.sources.push_back(place->pointer);
  return option;
}

template <class Option>
void keep_best(std::vector<Option>& options) {
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return a.points > b.points; });
  if (options.size() > kMostOptions) options.resize(kMostOptions);
}

// What all values of a field say, or nothing if one is no time.
std::optional<TimeOption> time_in(const OutlineField& field) {
  std::optional<TimeOption> option;
  bool texts = false;
  for (const SampleJson* value : field.values) {
    std::optional<TextTime> time;
    if (value->is_number()) {
      if (const auto unit = plausible_unit(value->get<double>())) time = TextTime{*unit};
    } else if (value->is_string()) {
      time = plausible_text(value->get<std::string>());
      texts |= time && time->unit != TimeUnit::kRfc3339;
    } else if (value->is_null()) {
      continue;
    }
    if (!time) continue;
    if (!option) option = TimeOption{"", 0, time->unit};
    if (option->unit != time->unit) option->unit = TimeUnit::kAuto;
    option->names_zone &= time->names_zone;
  }
  if (option) option->strings = texts && option->unit != TimeUnit::kAuto;
  return option;
}

void add_times(const SampleOutline& outline, const std::string& prefix, int malus,
               std::vector<TimeOption>& out) {
  constexpr int kPerLevel = 15;
  constexpr int kUnnamedText = 30;
  for (const OutlineField& field : outline.fields()) {
    auto option = time_in(field);
    if (!option) continue;
    int points = time_points(field.word);
    if (points == 0 && option->unit == TimeUnit::kRfc3339) points = kUnnamedText;
    if (points == 0) continue;
    option->points = points - kPerLevel * (static_cast<int>(field.depth) - 1) - malus;
    option->source = prefix + field.pointer;
    out.push_back(*option);
  }
}

bool is_number_text(const SampleJson& value) {
  if (!value.is_string()) return false;
  std::string text = value.get<std::string>();
  if (const auto comma = text.find(','); comma != std::string::npos) text[comma] = '.';
  return parse_json_double(text).kind == NumberKind::kFinite;
}

// How much of what is measured a field is.
int measure_of(const OutlineField& field) {
  const bool known = is_bookkeeping(field.word) || device_points(field.word) >= kCertain;
  if (known || (time_points(field.word) >= 40 && time_in(field))) return 0;
  int most = 0;
  for (const SampleJson* value : field.values) {
    if (value->is_number()) return 3;
    if (value->is_boolean()) most = std::max(most, 2);
    if (is_number_text(*value)) most = std::max(most, 2);
  }
  return most;
}

struct Contents {
  int own = 0;  // of the object itself
  int below = 0;
};

Contents contents_of(const std::vector<OutlineField>& fields, const std::string& pointer, std::size_t depth) {
  Contents contents;
  for (const OutlineField& field : fields) {
    if (!field.pointer.starts_with(pointer + "/")) continue;
    (field.depth == depth + 1 ? contents.own : contents.below) += measure_of(field);
  }
  return contents;
}

int points_of(const Contents& contents) {
  constexpr int kMost = 80;
  return std::min(kMost, (10 * contents.own + 7 * contents.below) / 3);
}

void add_one_metric(const std::vector<OutlineField>& fields, std::vector<MetricsOption>& out) {
  for (const OutlineField& name : fields) {
    const bool is_text = std::all_of(name.values.begin(), name.values.end(), [](const SampleJson* value) {
      return value->is_string() && !plausible_text(value->get<std::string>());
    });
    if (!is_text || metric_name_points(name.word) == 0) continue;
    for (const OutlineField& value : fields) {
      const std::string parent = name.pointer.substr(0, name.pointer.rfind('/'));
      if (value_points(value.word) == 0 || value.depth != name.depth ||
          !value.pointer.starts_with(parent + "/"))
        continue;
      const bool measured = std::any_of(value.values.begin(), value.values.end(), [](const SampleJson* v) {
        return v->is_number() || v->is_boolean() || is_number_text(*v);
      });
      if (!measured) continue;
      const Contents around = contents_of(fields, parent, name.depth - 1);
      const int others = std::max(0, around.own / 3 - 1);
      out.push_back({"", name.pointer, value.pointer,
                     10 + metric_name_points(name.word) + value_points(value.word) - 10 * others});
    }
  }
}

}  // namespace

DeviceOption device_of_record(const RecordCopy& record) {
  constexpr int kGivenKey = 60;
  constexpr int kLastResort = 15;
  DeviceOption option{{"key"}, record.key ? kGivenKey : kLastResort};
  for (const RecordHeader& header : record.headers) {
    const int points = device_points(plain_word(header.name));
    if (header.value && points >= 45 && points > option.points - (record.key ? 0 : 10))
      option = {{"header:" + header.name}, std::min(points, 65)};
  }
  return option;
}

std::vector<DeviceOption> device_options(const SampleLayer& layer, const RecordCopy& record) {
  std::vector<DeviceOption> options;
  const SampleOutline inside(layer.readings);
  const SampleOutline around(layer.around, layer.body ? &*layer.body : nullptr);
  // Of a CloudEvent the id is the event's own, and the source is who sent it.
  const bool is_event =
      std::any_of(inside.fields().begin(), inside.fields().end(),
                  [](const OutlineField& field) { return field.pointer == "/specversion"; });
  for (const OutlineField& field : inside.fields()) {
    const int points = is_event && field.pointer == "/id" ? 0 : points_of_device(field, record);
    if (points > 0) options.push_back({{field.pointer}, points});
  }
  for (const OutlineField& field : around.fields()) {
    if (const int points = points_of_device(field, record); points > 0)
      options.push_back({{"envelope:" + field.pointer}, points});
  }
  if (DeviceOption places = device_of_places(inside); places.points > 0) options.push_back(std::move(places));
  options.push_back(device_of_record(record));
  keep_best(options);
  return options;
}

std::vector<TimeOption> time_options(const SampleLayer& layer) {
  constexpr int kAround = 5;
  std::vector<TimeOption> options;
  add_times(SampleOutline(layer.readings), "", 0, options);
  const std::string* const body = layer.body ? &*layer.body : nullptr;
  add_times(SampleOutline(layer.around, body), "envelope:", kAround, options);
  keep_best(options);
  // A better time than the record's is one that a reading has. Where some of them lack it they are broken.
  if (options.empty()) options.push_back({"record", 0});
  return options;
}

std::vector<MetricsOption> metrics_options(const SampleLayer& layer) {
  std::vector<MetricsOption> options;
  const SampleOutline outline(layer.readings);
  const auto add = [&](const std::string& pointer, std::size_t depth, int named) {
    const Contents contents = contents_of(outline.fields(), pointer, depth);
    const int measured = points_of(contents);
    if (measured > 0 || named >= 40)
      options.push_back({pointer, std::nullopt, "", measured + named - 3 * static_cast<int>(depth)});
  };
  for (const OutlineField& field : outline.fields()) {
    const bool is_object = std::any_of(field.values.begin(), field.values.end(),
                                       [](const SampleJson* value) { return value->is_object(); });
    if (is_object) add(field.pointer, field.depth, metrics_points(field.word));
  }
  add("", 0, 0);
  add_one_metric(outline.fields(), options);
  keep_best(options);
  return options;
}

}  // namespace hourfold
