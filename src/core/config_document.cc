#include "core/config_document.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace hourfold {
namespace {

using Json = nlohmann::json;

// nlohmann tells no positions but those of syntax errors. It reads its input byte by byte, though, and
// reports a key right behind its last quote, so an iterator that notes how far it has got knows the line.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

std::string below(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// Notes the line of every key, and those that stand twice in one object: nlohmann would keep the last, and
// which one the operator meant is not for us to say.
class KeyNotes {
 public:
  KeyNotes(const char* begin, const char* const& furthest) : counted_(begin), furthest_(furthest) {}

  bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        open_.push_back({key_path_, {}});
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        key_path_ = open_.back().path;
        open_.pop_back();
        break;
      case Json::parse_event_t::key:
        note(parsed.get<std::string>());
        break;
      case Json::parse_event_t::value:
        break;
    }
    return true;
  }

  std::map<std::string, int> take_lines() { return std::move(lines_); }
  struct Twice {
    int line;
    std::string text;
  };
  const std::vector<Twice>& twice() const { return twice_; }

 private:
  struct Open {
    std::string path;
    std::set<std::string> keys;
  };

  void note(const std::string& key) {
    for (; counted_ != furthest_; ++counted_) line_ += *counted_ == '\n' ? 1 : 0;
    Open& object = open_.back();
    key_path_ = below(object.path, key);
    if (!object.keys.insert(key).second) {
      twice_.push_back({line_, key_path_ + ": stands here again (first in line " +
                                   std::to_string(lines_[key_path_]) + "); remove one of the two"});
    }
    lines_.emplace(key_path_, line_);
  }

  const char* counted_;
  const char* const& furthest_;
  int line_ = 1;
  std::string key_path_;
  std::vector<Open> open_;
  std::map<std::string, int> lines_;
  std::vector<Twice> twice_;
};

struct LineAndColumn {
  std::size_t line = 1;
  std::size_t column = 1;
};

LineAndColumn place_of_byte(std::string_view text, std::size_t byte) {
  LineAndColumn place;
  for (const char c : text.substr(0, byte == 0 ? 0 : byte - 1)) {
    place.column = c == '\n' ? 1 : place.column + 1;
    place.line += c == '\n' ? 1 : 0;
  }
  return place;
}

// What the library says without its own prefix, and a hint where it is the comma that JSON does not allow.
std::string syntax_words(const Json::parse_error& error) {
  std::string words = error.what();
  const std::string_view marker = "syntax error ";
  const std::size_t at = words.find(marker);
  words = "broken JSON" + (at == std::string::npos ? ": " + words : " " + words.substr(at + marker.size()));
  const bool comma = words.find("unexpected '}'; expected string literal") != std::string::npos ||
                     words.find("unexpected ']'; expected '['") != std::string::npos;
  return comma ? words + " (JSON allows no comma behind the last entry)" : words;
}

Result<ConfigDocument> parse(std::string_view text, std::string name) {
  const char* furthest = text.data();
  KeyNotes notes(text.data(), furthest);
  ConfigDocument document;
  try {
    const CountingIterator begin(text.data(), &furthest);
    const CountingIterator end(text.data() + text.size(), &furthest);
    document.root = Json::parse(begin, end, std::ref(notes), true, true);
  } catch (const Json::parse_error& error) {
    const LineAndColumn place = place_of_byte(text, error.byte);
    return refused(name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
                   syntax_words(error));
  } catch (const Json::exception& error) {
    return refused(name + ": " + error.what());
  }
  if (!document.root.is_object())
    return refused(name + ": the configuration must be one JSON object, { ... }");
  std::string twice;
  for (const auto& [line, problem] : notes.twice()) {
    twice += (twice.empty() ? "" : "\n") + name + ":" + std::to_string(line) + ": " + problem;
  }
  if (!twice.empty()) return refused(std::move(twice));
  document.lines = notes.take_lines();
  document.name = std::move(name);
  return document;
}

// The names of librdkafka's properties have dots themselves: behind this, the rest is one key.
constexpr std::string_view kProperties = "kafka.properties.";

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  const std::size_t one_key_from = path.starts_with(kProperties) ? kProperties.size() : path.size();
  std::size_t begin = 0;
  for (std::size_t dot = path.find('.'); dot < one_key_from; dot = path.find('.', begin)) {
    parts.push_back(path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  parts.push_back(path.substr(begin));
  return parts;
}

Result<void> apply_override(ConfigDocument& document, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string path = text.substr(0, equals);
  const std::vector<std::string> parts = split_path(path);
  bool sound = equals != std::string::npos;
  for (const std::string& part : parts) sound = sound && !part.empty();
  if (!sound) return refused("--set " + text + ": write --set KEY=VALUE, as in --set sink.table=rollups");

  Json* at = &document.root;
  std::string walked;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    walked = below(walked, parts[i]);
    at = &(*at)[parts[i]];
    if (!at->is_object() && !at->is_null()) {
      return refused("--set " + path + ": " + walked + " is " + at->type_name() +
                     ", nothing can be set below it");
    }
  }
  const std::string value_text = text.substr(equals + 1);
  Json value = Json::parse(value_text, nullptr, false);
  (*at)[parts.back()] = value.is_discarded() ? Json(value_text) : std::move(value);
  document.overridden[path] = value_text;
  return {};
}

}  // namespace

bool ConfigDocument::is_overridden(const std::string& path) const {
  for (const auto& [set, text] : overridden) {
    if (path == set || path.starts_with(set + ".")) return true;
  }
  return false;
}

int ConfigDocument::line_of(const std::string& path) const {
  if (is_overridden(path)) return 0;
  for (std::string at = path;; at.erase(at.rfind('.'))) {
    if (const auto line = lines.find(at); line != lines.end()) return line->second;
    if (at.find('.') == std::string::npos) return 0;
  }
}

std::string ConfigDocument::place_of(const std::string& path) const {
  if (is_overridden(path)) return "--set " + path;
  const int line = line_of(path);
  return name + (line == 0 ? "" : ":" + std::to_string(line)) + ": " + path;
}

Result<ConfigDocument> read_config_document(std::string_view text, std::string_view name,
                                            const std::vector<std::string>& overrides) {
  auto document = parse(text.empty() ? "{}" : text, std::string(name));
  if (!document) return document;
  for (const std::string& one : overrides) {
    if (auto applied = apply_override(*document, one); !applied) return applied.error();
  }
  return document;
}

}  // namespace hourfold
