// An Avro schema (specification 1.12), as the table that the decoder walks.
//
// A named type is one node, wherever it is used, so that recursion is a circle in the table. Names become
// JSON text once, here. Aliases, defaults and orders are about evolution: a value is read by the schema that
// wrote it, and pointers of the configuration find its fields by name, so none of them matters.
//
// Threads: immutable once parsed. Ownership: a value. Errors: Refused, with the place in the schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hourfold {

class AvroSchema {
 public:
  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,
    kInt,
    kLong,
    kFloat,
    kDouble,
    kBytes,
    kString,
    kFixed,
    kEnum,
    kArray,
    kMap,
    kRecord,
    kUnion,
    kDecimal,       // in bytes
    kFixedDecimal,  // in a fixed
    kFixedUuid,     // in a fixed of 16 bytes
  };
  using Index = std::uint32_t;
  struct Node {
    Kind kind;
    std::uint32_t scale = 0;  // of a decimal
    std::uint32_t size = 0;   // of a fixed
    Index first = 0;  // array, map: the items' node; record: in fields; union: in branches; enum: in symbols
    std::uint32_t count = 0;  // of fields, branches, symbols
  };
  struct Field {
    std::string prefix;  // its name as JSON, and a colon
    Index node;
  };

  static constexpr std::size_t kMaxNodes = 65'536;
  static constexpr std::size_t kMaxNesting = 256;         // of the schema's own text
  static constexpr std::uint32_t kMaxDecimalBytes = 256;  // twice the range of a double

  static Result<std::shared_ptr<const AvroSchema>> parse(std::string_view text);

  const Node& root() const { return nodes_[root_]; }
  const Node& node(Index i) const { return nodes_[i]; }
  const Field& field(Index i) const { return fields_[i]; }
  const Node& branch(Index i) const { return nodes_[branches_[i]]; }
  // As a JSON string.
  const std::string& symbol(Index i) const { return symbols_[i]; }

 private:
  friend class AvroSchemaReader;

  Index root_ = 0;
  std::vector<Node> nodes_;
  std::vector<Field> fields_;
  std::vector<Index> branches_;
  std::vector<std::string> symbols_;
};

}  // namespace hourfold
