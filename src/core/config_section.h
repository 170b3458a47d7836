// Reads a ConfigDocument key by key: checks types and ranges, puts secrets in their places, collects what is
// wrong, and at the end finds the keys that nobody asked for.
//
// Invariants: a value that is wrong leaves its target unchanged and is a problem. What came out of a variable
// or a file is never shown
//             in one: problems quote the configuration's own text.
// Ownership:  the reader outlives its sections, the document outlives both.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/config_document.h"

namespace hourfold {

class ConfigSection;

class ConfigReader {
 public:
  ConfigReader(const ConfigDocument& document, const SecretLookup& secrets)
      : document_(document), secrets_(secrets) {}

  ConfigSection root();
  void problem(const std::string& path, const std::string& what);
  // Every ${VAR} and ${file:PATH} replaced; $${ is ${. Empty, and a problem, if one has no value.
  std::optional<std::string> expand(const std::string& path, const std::string& text);

  // To be called once, when all sections have been read: unknown keys included, in order of their lines.
  std::vector<std::string> take_problems();

  const ConfigDocument& document() const { return document_; }

 private:
  friend class ConfigSection;
  struct Visited {
    std::string path;
    const nlohmann::json* object;
    std::vector<std::string> known;
  };
  struct Problem {
    int line;
    std::string text;
  };
  void report_unknown(const Visited& section);
  std::string suggestion(const Visited& section, const std::string& key) const;

  const ConfigDocument& document_;
  const SecretLookup& secrets_;
  std::map<std::string, Visited> visited_;  // by path
  std::vector<Problem> problems_;
};

// One object of the configuration; an empty one where it is missing.
class ConfigSection {
 public:
  ConfigSection section(const std::string& key);

  // The value as it stands, null if it is missing. Marks the key as known.
  const nlohmann::json* value(const std::string& key);
  bool has(const std::string& key) const { return object_.contains(key); }

  // The text with its secrets; nothing if it is missing or was a problem. Given with --set, a number or a
  // boolean is its text.
  std::optional<std::string> text(const std::string& key);
  void filled_text(const std::string& key, std::string& out);
  // A list of texts, or one of them alone. Nothing, and no problem yet, if it is missing or neither.
  std::optional<std::vector<std::string>> texts(const std::string& key);
  // A JSON document: in place, or in a text.
  void document_text(const std::string& key, std::string& out);
  void flag(const std::string& key, bool& out);
  void number(const std::string& key, std::uint32_t low, std::uint32_t high, std::uint32_t& out);
  void duration(const std::string& key, std::int64_t low_ms, std::int64_t high_ms, std::int64_t& out_ms);
  void bytes(const std::string& key, std::uint64_t low, std::uint64_t& out);
  template <class Enum>
  void choice(const std::string& key, const std::vector<std::pair<std::string_view, Enum>>& choices,
              Enum& out) {
    std::vector<std::string_view> names;
    names.reserve(choices.size());
    for (const auto& [name, meaning] : choices) names.push_back(name);
    if (const auto chosen = chosen_of(key, names)) out = choices[*chosen].second;
  }

  // "must be <what>, is <the value as it stands>".
  void expected(const std::string& key, const std::string& what);
  void problem(const std::string& key, const std::string& what) { reader_.problem(path_of(key), what); }
  std::string path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  ConfigReader& reader() { return reader_; }

 private:
  friend class ConfigReader;
  ConfigSection(ConfigReader& reader, const nlohmann::json& object, std::string path);
  std::optional<std::size_t> chosen_of(const std::string& key, const std::vector<std::string_view>& names);

  ConfigReader& reader_;
  const nlohmann::json& object_;
  std::string path_;
};

}  // namespace hourfold
