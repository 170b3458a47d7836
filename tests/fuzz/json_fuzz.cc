// JSON readings in all shapes; of the canonical one also what nlohmann's parser thinks of it.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "payload/record_text.h"
#include "tests/fuzz/payloads.h"

namespace hourfold::fuzz {
namespace {

using Json = nlohmann::json;

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool has_more(std::istringstream& in) {
  while (in.peek() == ' ' || in.peek() == '\t' || in.peek() == '\r') in.get();
  return in.peek() != std::istringstream::traits_type::eof();
}

// The documents of a text of one line; empty if nlohmann says that they are broken.
struct SecondOpinion {
  bool comparable = true;  // false where the two mean different things on purpose
  std::optional<std::vector<Json>> documents;
};

SecondOpinion second_opinion(std::string_view text) {
  SecondOpinion opinion;
  // A line feed makes lines that stand alone; a NUL ends nlohmann's input; these words are read as what they
  // say.
  if (text.empty() || text.find_first_of(std::string_view("\n\0", 2)) != std::string_view::npos ||
      holds(text, "NaN") || holds(text, "Infinity")) {
    return {false, {}};
  }
  std::vector<Json> documents;
  std::istringstream in{std::string(text)};
  try {
    while (has_more(in)) {
      Json document;
      in >> document;
      documents.push_back(std::move(document));
      if (!documents.back().is_structured()) break;  // it alone, or broken
    }
  } catch (const Json::out_of_range&) {
    return {false, {}};  // a number that no double can hold: sound JSON, says the grammar
  } catch (const Json::parse_error&) {
    return opinion;
  }
  if (documents.size() > 1 && !documents.back().is_structured()) return opinion;
  opinion.comparable = !documents.empty() && documents.back().is_structured();
  opinion.documents = std::move(documents);
  return opinion;
}

void flatten(const Json& object, const std::string& prefix, std::multimap<std::string, double>& out) {
  for (const auto& [name, value] : object.items()) {
    const std::string path = prefix.empty() ? name : prefix + "." + name;
    if (value.is_object()) flatten(value, path, out);
    if (value.is_number()) out.emplace(path, value.get<double>());
  }
}

// A good reading of a document holds what nlohmann finds there.
void compare(const ParsedRecord& record, const ParsedReading& reading, const Json& document) {
  const Json& device = document.at("device");
  require(device.is_string() || device.is_number(), "a device that is a string or an integer", device.dump());
  if (device.is_string())
    require_equal(reading.device, device.get<std::string>(), "the device of the document");
  const Json& time = document.at("ts");
  if (time.is_number_unsigned())
    require(time.get<std::uint64_t>() == static_cast<std::uint64_t>(reading.event_ms),
            "the time of the document", time.dump());
  if (time.is_number_float())
    require(std::fabs(time.get<double>() - static_cast<double>(reading.event_ms)) <= 1.0, "about the time",
            time.dump());
  std::multimap<std::string, double> expected;
  flatten(document.at("metrics"), "", expected);
  for (const Metric& metric : record.metrics_of(reading)) {
    const auto [from, to] = expected.equal_range(std::string(metric.name));
    require(from != to, "metrics of the document alone", metric.name);
    if (std::next(from) == to) require(from->second == metric.value, "the document's value", metric.name);
  }
  for (const auto& [name, value] : expected) {
    const bool usable = !name.empty() && name.size() <= kMaxMetricNameBytes &&
                        std::none_of(name.begin(), name.end(), [](char c) {
                          return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
                        });
    if (!usable || expected.count(name) > 1) continue;
    bool found = false;
    for (const Metric& metric : record.metrics_of(reading)) found |= metric.name == name;
    require(found, "every number of the document", name);
  }
}

void check_canonical(const RecordView& view, const ReadingShape& shape) {
  const SecondOpinion opinion = second_opinion(trim_record(view.value));
  if (!opinion.comparable) return;
  const auto parser = make_payload_parser(shape);
  const ParsedRecord& record = parser->parse(view);
  std::vector<const Json*> objects;
  if (opinion.documents) {
    for (const Json& document : *opinion.documents) {
      if (document.is_object()) objects.push_back(&document);
      if (document.is_array()) {
        if (document.empty()) objects.push_back(&document);
        for (const Json& element : document) objects.push_back(&element);
      }
    }
  }
  for (const ParsedReading& reading : record.readings) {
    const bool broken = reading.malformed == Malformed::kBadJson || reading.malformed == Malformed::kBadUtf8;
    if (opinion.documents)
      require(!broken, "what nlohmann reads to be read", to_string(reading.malformed));
    else
      require(reading.malformed != Malformed::kNone, "no reading where nlohmann reads none", view.value);
  }
  if (objects.size() != record.readings.size()) {
    require(record.readings.size() == 1 && record.readings[0].malformed != Malformed::kNone,
            "a reading a document");
    return;
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (record.readings[i].malformed == Malformed::kNone) compare(record, record.readings[i], *objects[i]);
  }
}

}  // namespace

void try_input(std::string_view bytes) {
  static const ReadingShape kShapes[] = {
      shape_of("{}"),
      shape_of(R"({"metrics":"","select":{"deny":["fw*"]}})"),
      shape_of(
          R"({"device":"/a/id","time":"/a/t","time_unit":"rfc3339","metrics":"/a/b/o","booleans":true})"),
      shape_of(R"({"metric":"/m","value":"/v/n","time_unit":"s","numeric_strings":true})"),
      shape_of(R"({"device":"key","arrival":"/at","arrival_unit":"us"})"),
      shape_of(R"({"device":["/a","header:device-id","/b/c"],"device_separator":"::","time":"record"})"),
      shape_of(R"({"time_unit":"auto","arrival":"/at","arrival_unit":"rfc3339","time_zone":"-03:30"})"),
      shape_of(
          R"({"numeric_strings":true,"decimal_comma":true,"booleans":true,"time_strings":true,"time_unit":"ns"})"),
      shape_of(R"({"numeric_strings":true,"select":{"allow":["t*","?","a.*"],"deny":["*.x"],"convert":[
                   {"metrics":"t*","scale":0.01,"offset":-40},{"metrics":"?","scale":1e300}],
                   "rename":{"t":"u","a.b":"t"}}})"),
      shape_of(R"({"body":"/b","device":"envelope:/d","time":"envelope:/t","metrics":""})"),
      shape_of(R"({"body":"","device":["/device","envelope:/d/e"],"arrival":"envelope:/at"})"),
      shape_of(R"({"framing":"confluent"})"),
      shape_of(R"({"framing":"confluent","body":"/b","device":["key","envelope:/d"],"time_unit":"rfc3339"})"),
      shape_of(R"({"device":"/d~1e","time":"/t~0","metrics":"/~01/0","device_separator":""})"),
      shape_of(R"({"device":["/d/0","/d/1"],"device_separator":"\u0001","metrics":"/d"})"),
  };
  try_payload(kShapes, bytes);
  Input input(bytes);
  const FuzzedRecord record(input, std::size(kShapes));
  if (record.shape == 0) check_canonical(record.view(), kShapes[0]);
}

}  // namespace hourfold::fuzz
