// What the objects of a sample have in common: which fields there are at which pointers, and what was in
// them.
//
// Threads: none of its own. Ownership: fields point into the objects, which outlive the outline.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "payload/sample_documents.h"

namespace hourfold {

struct OutlineField {
  std::string pointer;
  std::string name;       // the last of the pointer
  std::string word;       // its plain word
  std::size_t depth = 0;  // 1: of the object itself
  std::vector<const SampleJson*> values;
};

class SampleOutline {
 public:
  // Fields at or below `without` are left out.
  explicit SampleOutline(const std::vector<const SampleJson*>& objects, const std::string* without = nullptr);

  // In the order in which they were met. Arrays are fields, and nothing in them is.
  const std::vector<OutlineField>& fields() const { return fields_; }
  std::size_t objects() const { return objects_; }

 private:
  void add_members(const SampleJson& object, const std::string& pointer, std::size_t depth);
  void add(const SampleJson& value, const std::string& name, const std::string& pointer, std::size_t depth);

  const std::string* without_;
  std::size_t objects_;
  std::vector<OutlineField> fields_;
};

// As a pointer has it: ~ and / escaped (RFC 6901).
std::string escaped_name(const std::string& name);

}  // namespace hourfold
