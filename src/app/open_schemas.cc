#include "app/open_schemas.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "app/schema_cache.h"
#include "http/schema_registry.h"
#include "payload/framed_parser.h"

namespace hourfold {
namespace {

constexpr std::int64_t kPatienceMs = 60'000;
constexpr auto kLookEvery = std::chrono::milliseconds(20);

Result<std::unique_ptr<SchemaRegistry>> registry_of(const ReadingShape& shape) {
  auto registry = SchemaRegistry::create(shape.schema_registry);
  if (!registry) return refused("reading.schema_registry: " + registry.error().message);
  return registry;
}

}  // namespace

Result<void> check_schemas(const ReadingShape& shape) {
  if (shape.format != PayloadFormat::kAvro) return {};
  if (shape.schema_registry.empty()) {
    auto schemas = FixedAvroSchemas::parse(shape);
    return schemas ? Result<void>() : Result<void>(schemas.error());
  }
  auto registry = registry_of(shape);
  return registry ? Result<void>() : Result<void>(registry.error());
}

Result<std::unique_ptr<AvroSchemas>> open_schemas(const ReadingShape& shape, LogLine log) {
  if (shape.format != PayloadFormat::kAvro) return std::unique_ptr<AvroSchemas>();
  if (shape.schema_registry.empty()) return FixedAvroSchemas::parse(shape);
  auto registry = registry_of(shape);
  if (!registry) return registry.error();
  std::shared_ptr<SchemaRegistry> client = std::move(*registry);
  return std::unique_ptr<AvroSchemas>(std::make_unique<SchemaCache>(
      [client](std::int32_t id) { return client->fetch(id); }, system_clock(), std::move(log)));
}

// Records of one schema follow one another.
std::vector<std::int32_t> schema_ids(const RecordBatch& batch) {
  std::vector<std::int32_t> ids;
  for (const Record& record : batch.records) {
    if (!record.value) continue;
    const auto id = framed_schema_id(*record.value);
    if (!id || (!ids.empty() && ids.back() == *id)) continue;
    ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Result<void> wait_for_schemas(AvroSchemas* schemas, std::span<const std::int32_t> ids,
                              const std::function<bool()>& stopped) {
  if (schemas == nullptr) return {};
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const std::string why = schemas->why_not_yet(ids);
    if (why.empty()) return {};
    if (stopped()) return unavailable("stopped while waiting for schemas");
    if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(kPatienceMs))
      return fatal(why + " (gave up after " + format_duration(kPatienceMs) + ")");
    std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace hourfold
