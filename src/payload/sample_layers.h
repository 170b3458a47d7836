// Where the readings of a sample may be: the documents themselves, a list in them, or a document in a text.
//
// Threads: none of its own. Ownership: layers point into the SampleLayers that made them.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "payload/sample_documents.h"

namespace hourfold {

struct SampleLayer {
  std::optional<std::string> body;  // as in the shape
  int points = 0;                   // how likely it is
  std::vector<const SampleJson*> readings;
  std::vector<const SampleJson*> around;  // the documents that the body is in
};

class SampleLayers {
 public:
  // elements: what a parser takes for a reading each, all records together.
  explicit SampleLayers(std::vector<SampleJson> elements);
  SampleLayers(const SampleLayers&) = delete;
  SampleLayers& operator=(const SampleLayers&) = delete;

  const std::vector<SampleLayer>& layers() const { return layers_; }

 private:
  void add_whole();
  void add_text_documents();
  void add_inner_layers();
  void add_inner_layer(const std::string& pointer, const std::string& word);
  void add_body(const SampleJson& body, SampleLayer& layer, bool& in_text);

  const std::vector<SampleJson> elements_;
  std::deque<SampleJson> decoded_;
  std::vector<SampleLayer> layers_;
};

}  // namespace hourfold
