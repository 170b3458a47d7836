// Shapes that a sample may have, made from what its fields are called and what is in them. Only the parsers
// can tell which of them are right.
//
// Threads: free functions without state.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/record.h"
#include "payload/sample_layers.h"

namespace hourfold {

struct ShapeCandidate {
  ReadingShape shape;
  int points = 0;
};

// JSON of any kind: with pointers, SenML, ThingsBoard.
void add_json_candidates(const SampleLayer& layer, const RecordCopy& record,
                         std::vector<ShapeCandidate>& out);
void add_list_formats(const SampleLayer& layer, const RecordCopy& record, std::vector<ShapeCandidate>& out);
// Line protocol, if every line looks like it.
void add_influx_candidate(std::span<const RecordCopy> records, std::vector<ShapeCandidate>& out);

}  // namespace hourfold
