#include "payload/sample_documents.h"

#include <array>
#include <iterator>
#include <utility>

#include "core/field_source.h"
#include "payload/base64.h"
#include "payload/framed_parser.h"
#include "payload/record_text.h"

namespace hourfold {
namespace {

// Behind the text that begins here.
std::size_t past_text(std::string_view text, std::size_t i) {
  for (++i; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\') ++i;
  }
  return i + 1;
}

// What Python and others write for numbers that are none.
std::string without_literals(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kLiterals = {"-Infinity", "Infinity", "NaN"};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      const std::size_t end = std::min(past_text(text, i), text.size());
      out += text.substr(i, end - i);
      i = end;
      continue;
    }
    std::string_view found;
    for (const std::string_view literal : kLiterals) {
      if (found.empty() && text.substr(i).starts_with(literal)) found = literal;
    }
    out += found.empty() ? text.substr(i, 1) : "null";
    i += found.empty() ? 1 : found.size();
  }
  return out;
}

// Behind the bracket that closes the one here; npos if none does.
std::size_t past_brackets(std::string_view text, std::size_t i) {
  std::size_t open = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '"') {
      i = past_text(text, i);
      continue;
    }
    open += c == '{' || c == '[' ? 1 : 0;
    open -= c == '}' || c == ']' ? 1 : 0;
    ++i;
    if (open == 0) return i;
  }
  return std::string_view::npos;
}

std::optional<SampleJson> parsed(std::string_view text) {
  SampleJson document = SampleJson::parse(text, nullptr, false);
  if (document.is_discarded()) return std::nullopt;
  return document;
}

std::vector<SampleJson> documents_in_lines(std::string_view text) {
  std::vector<SampleJson> documents;
  for (std::string_view line = next_line(text); !line.empty(); line = next_line(text)) {
    if (auto document = parsed(line)) documents.push_back(std::move(*document));
  }
  return documents;
}

}  // namespace

std::vector<SampleJson> sample_documents(std::string_view value) {
  const std::string cleaned = without_literals(trim_record(value));
  const std::string_view text = cleaned;
  if (auto whole = parsed(text)) return {std::move(*whole)};
  std::vector<SampleJson> documents;
  std::size_t i = text.find_first_not_of(" \t\r\n");
  while (i < text.size()) {
    if (text[i] != '{' && text[i] != '[') return documents_in_lines(text);
    const std::size_t end = past_brackets(text, i);
    if (end == std::string_view::npos) return documents_in_lines(text);
    auto document = parsed(text.substr(i, end - i));
    if (!document) return documents_in_lines(text);
    documents.push_back(std::move(*document));
    i = text.find_first_not_of(" \t\r\n", end);
  }
  return documents;
}

std::vector<SampleJson> sample_elements(std::vector<SampleJson> documents) {
  std::vector<SampleJson> elements;
  for (SampleJson& document : documents) {
    if (document.is_array()) {
      for (SampleJson& element : document) elements.push_back(std::move(element));
    } else {
      elements.push_back(std::move(document));
    }
  }
  return elements;
}

std::vector<SampleJson> documents_in_text(const std::string& text) {
  const std::string_view trimmed = trim_record(text);
  const std::size_t first = trimmed.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  if (trimmed[first] == '{' || trimmed[first] == '[') return sample_documents(trimmed);
  std::string decoded;
  if (!decode_base64(trimmed, decoded) || decoded.find_first_of("{[") != 0) return {};
  return sample_documents(decoded);
}

std::vector<SampleReading> sample_readings(std::string_view value, const ReadingShape& shape) {
  if (shape.framing == ValueFraming::kConfluent && framed_schema_id(value))
    value.remove_prefix(kFramingBytes);
  std::vector<SampleReading> readings;
  for (SampleJson& outer : sample_elements(sample_documents(value))) {
    if (!shape.body) {
      readings.push_back({std::move(outer), {}});
      continue;
    }
    const SampleJson* const body = at_pointer(outer, *shape.body);
    if (body == nullptr) {
      readings.push_back({{}, outer});
      continue;
    }
    auto inner = body->is_string() ? documents_in_text(body->get<std::string>()) : std::vector{*body};
    for (SampleJson& element : sample_elements(std::move(inner)))
      readings.push_back({std::move(element), outer});
  }
  return readings;
}

const SampleJson* at_pointer(const SampleJson& document, const std::string& pointer) {
  const SampleJson* here = &document;
  for (const std::string& name : pointer_names(pointer)) {
    if (!here->is_object() || !here->contains(name)) return nullptr;
    here = &(*here)[name];
  }
  return here;
}

}  // namespace hourfold
