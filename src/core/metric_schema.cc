#include "core/metric_schema.h"

#include <algorithm>
#include <functional>

#include "core/check.h"
#include "core/same_bytes.h"

namespace hourfold {
namespace {

std::size_t hash_of(const std::vector<std::string>& names) {
  std::size_t hash = 0x9e3779b97f4a7c15ULL;
  for (const std::string& name : names)
    hash = (hash ^ std::hash<std::string>{}(name)) * 0xff51afd7ed558ccdULL;
  return hash;
}

}  // namespace

Slot MetricSchema::find(std::string_view name) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), name);
  return at != names_.end() && *at == name ? static_cast<Slot>(at - names_.begin()) : kNoSlot;
}

SchemaPool::SchemaPool() : empty_(std::make_shared<const MetricSchema>(std::vector<std::string>{})) {}

SchemaPtr SchemaPool::get(std::vector<std::string> names) {
  if (names.empty()) return empty_;
  HF_CHECK(names.size() < kNoSlot);
  const std::size_t hash = hash_of(names);
  for (auto [at, end] = schemas_.equal_range(hash); at != end; ++at) {
    if (SchemaPtr schema = at->second.lock(); schema && schema->names() == names) return schema;
  }
  if (schemas_.size() >= drop_at_) drop_unused();
  auto schema = std::make_shared<const MetricSchema>(std::move(names));
  schemas_.emplace(hash, schema);
  return schema;
}

void SchemaPool::drop_unused() {
  std::erase_if(schemas_, [](const auto& entry) { return entry.second.expired(); });
  drop_at_ = std::max<std::size_t>(1024, schemas_.size() * 2);
}

std::span<const Slot> SlotMapper::map(std::span<const Metric> metrics, const SchemaPtr& schema) {
  if (metrics.empty()) return {};
  const std::string_view first = metrics.front().name;
  const std::string_view last = metrics.back().name;
  std::size_t hash = reinterpret_cast<std::uintptr_t>(schema.get()) >> 4;
  hash = hash * 31 + metrics.size();
  hash = hash * 31 + first.size() * 7 + static_cast<unsigned char>(first.back());
  hash = hash * 31 + last.size() * 7 + static_cast<unsigned char>(last.front());
  Entry& entry = entries_[(hash ^ (hash >> 8)) % kEntries];
  if (!matches(entry, metrics, schema.get())) fill(entry, metrics, schema);
  return entry.slots;
}

bool SlotMapper::matches(const Entry& entry, std::span<const Metric> metrics, const MetricSchema* schema) {
  if (entry.schema.get() != schema || entry.sizes.size() != metrics.size()) return false;
  const char* expected = entry.names.data();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const std::string_view name = metrics[i].name;
    if (name.size() != entry.sizes[i] || !same_bytes(name.data(), expected, name.size())) return false;
    expected += name.size();
  }
  return true;
}

void SlotMapper::fill(Entry& entry, std::span<const Metric> metrics, const SchemaPtr& schema) {
  entry.schema = schema;
  entry.names.clear();
  entry.sizes.clear();
  entry.slots.clear();
  for (const Metric& metric : metrics) {
    entry.names += metric.name;
    entry.sizes.push_back(static_cast<std::uint16_t>(metric.name.size()));
    entry.slots.push_back(schema->find(metric.name));
  }
}

}  // namespace hourfold
