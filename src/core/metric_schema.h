// The set of metric names of a window, shared by all windows that have the same set: a fleet has few of them
// and very many windows.
//
// MetricSchema: immutable, names sorted by bytes, unique. A slot is an index into it.
// SchemaPool:   hands out one object per set of names; a schema that no window uses any more is freed.
// SlotMapper:   finds the slots of a reading's metrics; remembers the answer for the sequences of names that
// devices repeat.
//
// Threads: a pool and a mapper belong to one thread; windows made with a pool may outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/reading.h"

namespace hourfold {

using Slot = std::uint16_t;
inline constexpr Slot kNoSlot = 0xffff;

class MetricSchema {
 public:
  explicit MetricSchema(std::vector<std::string> sorted_names) : names_(std::move(sorted_names)) {}

  std::size_t size() const { return names_.size(); }
  const std::string& name(std::size_t slot) const { return names_[slot]; }
  const std::vector<std::string>& names() const { return names_; }
  Slot find(std::string_view name) const;

 private:
  std::vector<std::string> names_;
};

using SchemaPtr = std::shared_ptr<const MetricSchema>;

class SchemaPool {
 public:
  SchemaPool();

  // names: sorted by bytes, unique.
  SchemaPtr get(std::vector<std::string> names);
  const SchemaPtr& empty() const { return empty_; }
  std::size_t live() const { return schemas_.size(); }

 private:
  void drop_unused();

  std::unordered_multimap<std::size_t, std::weak_ptr<const MetricSchema>> schemas_;
  std::size_t drop_at_ = 1024;
  SchemaPtr empty_;
};

class SlotMapper {
 public:
  SlotMapper() : entries_(kEntries) {}

  // Slot of each metric in order, kNoSlot where the schema does not have it. Valid until the next call.
  std::span<const Slot> map(std::span<const Metric> metrics, const SchemaPtr& schema);

 private:
  // Direct-mapped: fleets repeat a handful of sequences, and a miss costs a binary search per name.
  static constexpr std::size_t kEntries = 256;
  struct Entry {
    SchemaPtr schema;  // kept, so that its address cannot come to mean another schema
    std::string names;
    std::vector<std::uint16_t> sizes;
    std::vector<Slot> slots;
  };
  static bool matches(const Entry& entry, std::span<const Metric> metrics, const MetricSchema* schema);
  static void fill(Entry& entry, std::span<const Metric> metrics, const SchemaPtr& schema);

  std::vector<Entry> entries_;
};

}  // namespace hourfold
