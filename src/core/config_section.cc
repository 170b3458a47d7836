#include "core/config_section.h"

#include <algorithm>

#include "core/edit_distance.h"

namespace hourfold {
namespace {

using Json = nlohmann::json;

const Json& empty_object() {
  static const Json empty = Json::object();
  return empty;
}

struct Nearest {
  std::string name;
  std::size_t distance = SIZE_MAX;
};

Nearest nearest_of(std::string_view name, const std::vector<std::string>& candidates) {
  Nearest nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < nearest.distance) nearest = {candidate, distance};
  }
  return nearest;
}

}  // namespace

ConfigSection ConfigReader::root() { return {*this, document_.root, ""}; }

void ConfigReader::problem(const std::string& path, const std::string& what) {
  problems_.push_back({document_.line_of(path), document_.place_of(path) + ": " + what});
}

std::optional<std::string> ConfigReader::expand(const std::string& path, const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, 3, "$${") == 0) {
      out += "${";
      at += 3;
      continue;
    }
    if (text.compare(at, 2, "${") != 0) {
      out += text[at++];
      continue;
    }
    const std::size_t end = text.find('}', at);
    const std::string name = end == std::string::npos ? "" : text.substr(at + 2, end - at - 2);
    if (name.empty() || name == "file:") {
      problem(path,
              "\"${\" must be ${VARIABLE} or ${file:PATH}; write $${ for the two characters themselves");
      return std::nullopt;
    }
    const bool is_file = name.starts_with("file:");
    const auto& look_up = is_file ? secrets_.file : secrets_.variable;
    const auto value = look_up ? look_up(is_file ? name.substr(5) : name) : std::nullopt;
    if (!value) {
      problem(path, is_file ? "the file " + name.substr(5) + " cannot be read"
                            : "the environment variable " + name + " is not set");
      return std::nullopt;
    }
    out += *value;
    at = end + 1;
  }
  return out;
}

// A slip of the finger in this section, or the right name in the wrong place.
std::string ConfigReader::suggestion(const Visited& section, const std::string& key) const {
  const auto full = [](const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  };
  const Nearest here = nearest_of(key, section.known);
  std::string meant_here = "did you mean " + full(section.path, here.name) + "?";
  if (here.distance <= 1) return meant_here;
  for (const auto& [path, other] : visited_) {
    if (nearest_of(key, other.known).distance == 0) return "did you mean " + full(path, key) + "?";
  }
  if (here.distance <= (key.size() + 2) / 3) return meant_here;
  std::string all;
  for (const std::string& name : section.known) all += (all.empty() ? "" : ", ") + name;
  return "known here: " + all;
}

void ConfigReader::report_unknown(const Visited& section) {
  for (const auto& item : section.object->items()) {
    if (std::find(section.known.begin(), section.known.end(), item.key()) != section.known.end()) continue;
    problem(section.path.empty() ? item.key() : section.path + "." + item.key(),
            "unknown key; " + suggestion(section, item.key()));
  }
}

std::vector<std::string> ConfigReader::take_problems() {
  for (const auto& [path, section] : visited_) report_unknown(section);
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  std::vector<std::string> texts;
  for (Problem& problem : problems_) texts.push_back(std::move(problem.text));
  return texts;
}

ConfigSection::ConfigSection(ConfigReader& reader, const Json& object, std::string path)
    : reader_(reader), object_(object.is_object() ? object : empty_object()), path_(std::move(path)) {
  reader_.visited_.try_emplace(path_, ConfigReader::Visited{path_, &object_, {}});
}

ConfigSection ConfigSection::section(const std::string& key) {
  const Json* found = value(key);
  if (found != nullptr && !found->is_object()) expected(key, "an object, { ... }");
  return {reader_, found == nullptr ? empty_object() : *found, path_of(key)};
}

const Json* ConfigSection::value(const std::string& key) {
  std::vector<std::string>& known = reader_.visited_.at(path_).known;
  if (std::find(known.begin(), known.end(), key) == known.end()) known.push_back(key);
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void ConfigSection::expected(const std::string& key, const std::string& what) {
  std::string found = object_.contains(key)
                          ? object_.at(key).dump(-1, ' ', false, Json::error_handler_t::replace)
                          : "missing";
  if (found.size() > 80) found = found.substr(0, 77) + "...";
  problem(key, "must be " + what + ", is " + found);
}

std::optional<std::string> ConfigSection::text(const std::string& key) {
  const Json* found = value(key);
  if (found == nullptr) return std::nullopt;
  const std::string path = path_of(key);
  if (const auto set = reader_.document().overridden.find(path);
      set != reader_.document().overridden.end() && found->is_primitive()) {
    return reader_.expand(path, found->is_string() ? found->get<std::string>() : set->second);
  }
  if (found->is_string()) return reader_.expand(path, found->get<std::string>());
  expected(key, "a text in quotes");
  return std::nullopt;
}

void ConfigSection::filled_text(const std::string& key, std::string& out) {
  const auto found = text(key);
  if (!found) return;
  if (found->empty()) return problem(key, "must not be empty");
  out = *found;
}

std::optional<std::vector<std::string>> ConfigSection::texts(const std::string& key) {
  const Json* found = value(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) {
    const auto one = text(key);
    return one ? std::optional(std::vector{*one}) : std::nullopt;
  }
  if (!found->is_array()) return std::nullopt;
  std::vector<std::string> list;
  for (const auto& item : *found) {
    const auto text = item.is_string() ? reader_.expand(path_of(key), item.get<std::string>()) : std::nullopt;
    if (!text) return std::nullopt;
    list.push_back(*text);
  }
  return list;
}

void ConfigSection::document_text(const std::string& key, std::string& out) {
  const Json* found = value(key);
  if (found == nullptr) return;
  if (found->is_object() || found->is_array()) {
    out = found->dump();
  } else {
    filled_text(key, out);
  }
}

void ConfigSection::flag(const std::string& key, bool& out) {
  const Json* found = value(key);
  if (found == nullptr) return;
  if (!found->is_boolean()) return expected(key, "true or false");
  out = found->get<bool>();
}

void ConfigSection::number(const std::string& key, std::uint32_t low, std::uint32_t high,
                           std::uint32_t& out) {
  const Json* found = value(key);
  if (found == nullptr) return;
  const bool sound = found->is_number_unsigned() && found->get<std::uint64_t>() >= low &&
                     found->get<std::uint64_t>() <= high;
  if (!sound)
    return expected(key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  out = found->get<std::uint32_t>();
}

void ConfigSection::duration(const std::string& key, std::int64_t low_ms, std::int64_t high_ms,
                             std::int64_t& out_ms) {
  const Json* found = value(key);
  if (found == nullptr) return;
  std::optional<std::int64_t> ms;
  if (found->is_string()) {
    const auto words = text(key);
    if (!words) return;
    ms = parse_duration_ms(*words);
  } else if (*found == 0) {
    ms = 0;
  }
  if (!ms || *ms < low_ms || *ms > high_ms) {
    return expected(key, R"(a duration such as "500ms", "90s", "5m", "48h" or "29d", from )" +
                             format_duration(low_ms) + " to " + format_duration(high_ms));
  }
  out_ms = *ms;
}

void ConfigSection::bytes(const std::string& key, std::uint64_t low, std::uint64_t& out) {
  const Json* found = value(key);
  if (found == nullptr) return;
  std::optional<std::uint64_t> size;
  if (found->is_number_unsigned()) {
    size = found->get<std::uint64_t>();
  } else if (found->is_string()) {
    const auto words = text(key);
    if (!words) return;
    size = parse_bytes(*words);
  }
  if (!size || *size < low) {
    return expected(key,
                    R"(a size such as "512MiB" or "4GiB", at least )" + std::to_string(low >> 20) + "MiB");
  }
  out = *size;
}

std::optional<std::size_t> ConfigSection::chosen_of(const std::string& key,
                                                    const std::vector<std::string_view>& names) {
  if (value(key) == nullptr) return std::nullopt;
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "\"" : ", \"") + std::string(name) + "\"";
  if (!value(key)->is_string()) {
    expected(key, "one of " + all);
    return std::nullopt;
  }
  const auto chosen = text(key);
  if (!chosen) return std::nullopt;
  const auto at = std::find(names.begin(), names.end(), *chosen);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  expected(key, "one of " + all);
  return std::nullopt;
}

}  // namespace hourfold
