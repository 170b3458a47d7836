// Where the schemas of Avro values come from: the configuration, or a registry.
//
// Threads: any, unless said otherwise. Ownership: a schema lives as long as anybody has it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/reading_shape.h"
#include "core/result.h"
#include "payload/avro_schema.h"

namespace hourfold {

class AvroSchemas {
 public:
  virtual ~AvroSchemas() = default;

  // Of an id, or without one that of values without framing. Null: there is no such schema. Never waits: of
  // ids for which why_not_yet() has not been empty the answer means nothing.
  virtual std::shared_ptr<const AvroSchema> find(std::optional<std::int32_t> id) = 0;

  // Empty once find() knows them all. Otherwise what is in the way, and they are being asked for: the values
  // have to wait, for nobody can say yet what they are.
  virtual std::string why_not_yet(std::span<const std::int32_t> /*ids*/) { return {}; }

  // From a registry, if there is one.
  struct Fetches {
    std::uint64_t found = 0;
    std::uint64_t none = 0;    // there is no such schema
    std::uint64_t failed = 0;  // and tried again
  };
  virtual std::optional<Fetches> fetches() const { return std::nullopt; }
};

// Those that the configuration holds.
class FixedAvroSchemas final : public AvroSchemas {
 public:
  // Refused: a text that is no schema, with its key.
  static Result<std::unique_ptr<AvroSchemas>> parse(const ReadingShape& shape);

  std::shared_ptr<const AvroSchema> find(std::optional<std::int32_t> id) override {
    const auto at = schemas_.find(id);
    return at == schemas_.end() ? nullptr : at->second;
  }

 private:
  Result<void> add(std::optional<std::int32_t> id, const std::string& key, const std::string& text);

  std::map<std::optional<std::int32_t>, std::shared_ptr<const AvroSchema>> schemas_;
};

}  // namespace hourfold
