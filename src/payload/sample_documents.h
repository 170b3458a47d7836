// The JSON documents of a sample, for looking into them: slower and more forgiving than the parsers, which
// alone decide what is read.
//
// Threads: free functions without state. Errors: what is no JSON is left out.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reading_shape.h"

namespace hourfold {

using SampleJson = nlohmann::json;

// All documents in a row, or by line where a line is broken. NaN and infinities are null.
std::vector<SampleJson> sample_documents(std::string_view text);

// The objects and other elements that a parser of JSON takes for a reading each, in their order.
std::vector<SampleJson> sample_elements(std::vector<SampleJson> documents);

// The document in a text, as it is or in base64, if there is one.
std::vector<SampleJson> documents_in_text(const std::string& text);

// What the parser of the shape takes for a reading each: behind the framing, in the body. `around`: the
// document that an element was found in. Empty where that cannot be told.
struct SampleReading {
  SampleJson element;
  SampleJson around;
};
std::vector<SampleReading> sample_readings(std::string_view value, const ReadingShape& shape);

// Null if there is none.
const SampleJson* at_pointer(const SampleJson& document, const std::string& pointer);

}  // namespace hourfold
