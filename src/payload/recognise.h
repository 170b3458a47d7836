// What a proposal saw in the sample, in words.
//
// Threads: free functions without state.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "payload/propose.h"

namespace hourfold {

struct RecognisedField {
  std::string what;   // device, time, metrics
  std::string where;  // /deviceInfo/devEui
  std::string found;  // "0011223344556677"
};

struct Recognised {
  std::string looks_like;  // "ChirpStack"
  std::vector<RecognisedField> fields;
  std::vector<std::string> notes;  // sentences
};

// proposals.ranked is not empty.
Recognised recognise(const Proposals& proposals, std::span<const RecordCopy> records);

}  // namespace hourfold
