// Words for the parts of a sample.
//
// Threads: free functions without state.
#pragma once

#include <string>

#include "payload/sample_documents.h"

namespace hourfold {

// `at /device`, `in the record's key`
std::string place_of(const std::string& source);
// `"d1"`, `21.5`, `an object`; long texts are cut.
std::string shown(const SampleJson& value);
// The names in an object, those in objects of it in braces: `device, time, object{t, h}`. Cut after some.
std::string members_of(const SampleJson& object);

// `"key": "value"` as a section has it.
std::string setting(const std::string& key, const std::string& value);

// Where the source points to, in the reading or around it; null if it is elsewhere or there is nothing.
const SampleJson* value_at(const SampleReading& reading, const std::string& source);

}  // namespace hourfold
