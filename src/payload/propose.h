// From a sample to the `reading` section that reads it.
//
// Candidates come from what the fields of the sample are called and hold (shape_candidates.h); the parsers
// themselves judge them: more usable readings and metrics win, a time of 2000 to 2100 alone counts, simpler
// shapes break ties. Pure: the same sample gives the same proposals.
//
// Threads: free functions without state. Errors: none; a sample may be foreign, or have no proposal.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/reading_shape.h"
#include "core/record.h"
#include "payload/sample_kind.h"

namespace hourfold {

struct Proposal {
  ReadingShape shape;
  std::size_t readings = 0;  // that it finds in the sample
  std::size_t usable = 0;    // of them
  std::size_t metrics = 0;
  int points = 0;
  // The sample cannot be read without what the operator alone knows: a schema registry.
  bool needs_schemas = false;
};

struct Proposals {
  std::optional<ForeignSample> foreign;  // then there is nothing else
  std::vector<Proposal> ranked;          // best first; all have a usable reading, or need schemas
};

// Records without a value (tombstones) say nothing.
Proposals propose(std::span<const RecordCopy> records);

}  // namespace hourfold
