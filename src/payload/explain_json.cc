#include "payload/explain_json.h"

#include <algorithm>
#include <optional>

#include "payload/explain_words.h"
#include "payload/json_tokens.h"
#include "payload/record_text.h"

namespace hourfold {
namespace {

// The byte, from 1, at which the text stops being JSON; empty if it is.
std::optional<std::size_t> broken_at(std::string_view text) {
  try {
    const SampleJson document = SampleJson::parse(text);
    return std::nullopt;
  } catch (const SampleJson::parse_error& error) {
    return error.byte;
  }
}

// Of several lines the one that stands for the reading, else all.
std::string_view text_of(const SamplePlace& place) {
  std::string_view rest = trim_record(*place.record.value);
  const std::string_view whole = rest;
  if (place.count < 2) return whole;
  for (std::size_t i = 0; i < place.index; ++i) next_line(rest);
  const std::string_view line = next_line(rest);
  return broken_at(line) ? line : whole;
}

std::string around(std::string_view text, std::size_t byte) {
  constexpr std::size_t kBefore = 24;
  constexpr std::size_t kBehind = 12;
  std::size_t from = byte > kBefore ? byte - kBefore : 0;
  while (from > 0 && (text[from] & 0xc0) == 0x80) --from;
  std::size_t to = std::min(byte + kBehind, text.size());
  while (to < text.size() && (text[to] & 0xc0) == 0x80) ++to;
  return (from > 0 ? "…" : "") + std::string(text.substr(from, to - from)) + (to < text.size() ? "…" : "");
}

std::string json_advice(std::string_view text, std::size_t at) {
  if (text.find("{'") != std::string_view::npos || text.find("': ") != std::string_view::npos)
    return " Names and texts have double quotes in JSON; in Python that is json.dumps(reading), not "
           "str(reading).";
  if (at >= text.size()) return " It ends before it is complete: was the sample cut?";
  const char found = text[at];
  if (found == '}' || found == ']') return " A comma in front of a closing bracket is too much.";
  if (found == '/' || found == '#') return " Comments have no place in JSON.";
  return "";
}

}  // namespace

std::string broken_json_place(const SamplePlace& place) {
  if (place.shape.format == PayloadFormat::kInflux) return "The line is broken.";
  const std::string_view text = text_of(place);
  const auto broken = broken_at(text);
  if (!broken) return "The text is not JSON to its end.";
  const std::size_t at = *broken > 0 ? *broken - 1 : 0;
  if (text.front() != '{' && text.front() != '[')
    return "This is no JSON: it begins with " + shown(std::string(text.substr(0, 24))) +
           ". Other formats are set with reading.format.";
  return "The JSON is broken at byte " + std::to_string(at + 1) + ": " + around(text, at) + "." +
         json_advice(text, at);
}

std::string bad_utf8_place(std::string_view value) {
  std::size_t sound = 0;
  while (sound < value.size()) {
    std::size_t size = 1;
    while (size <= 4 && sound + size <= value.size() && !JsonTokens::is_utf8(value.substr(sound, size)))
      ++size;
    if (size > 4 || sound + size > value.size()) break;
    sound += size;
  }
  const std::size_t from = sound > 16 ? sound - 16 : 0;
  return "the first at byte " + std::to_string(sound + 1) + ", behind " +
         shown(std::string(value.substr(from, sound - from))) + ".";
}

std::string not_an_object(const SamplePlace& place) {
  const auto readings = sample_readings(*place.record.value, place.shape);
  std::string expected = "A reading is an object in braces, alone or in a list.";
  if (readings.size() != place.count) return expected;
  const SampleJson& element = readings[place.index].element;
  std::string text = "There is " + shown(element) + " where a reading should be. " + expected;
  if (element.is_string() && !documents_in_text(element.get<std::string>()).empty())
    text = "The record is JSON in a text of JSON: " + setting("body", "") + " reads the document in it.";
  return text;
}

}  // namespace hourfold
