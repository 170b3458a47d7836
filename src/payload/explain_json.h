// Where a document is broken, and what is in the place of an object.
//
// Threads: free functions without state.
#pragma once

#include <string>
#include <string_view>

#include "payload/explain.h"

namespace hourfold {

// Sentences.
std::string broken_json_place(const SamplePlace& place);
std::string bad_utf8_place(std::string_view value);
std::string not_an_object(const SamplePlace& place);

}  // namespace hourfold
