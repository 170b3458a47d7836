#include "app/schema_cache.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "app/thread_name.h"

namespace hourfold {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(200);
constexpr auto kLongestPause = std::chrono::milliseconds(10'000);
// Ids without a schema that are remembered: records that are no Avro can name any.
constexpr std::size_t kMaxEntries = 10'000;

}  // namespace

SchemaCache::SchemaCache(Fetch fetch, const Clock& clock, LogLine log)
    : fetch_(std::move(fetch)), clock_(clock), log_(std::move(log)), thread_([this] {
        name_this_thread("schemas");
        run();
      }) {}

SchemaCache::~SchemaCache() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::shared_ptr<const AvroSchema> SchemaCache::find(std::optional<std::int32_t> id) {
  if (!id) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(*id);
  return at == entries_.end() ? nullptr : at->second.schema;
}

std::string SchemaCache::why_not_yet(std::span<const std::int32_t> ids) {
  std::string why;
  bool fresh = false;
  {
    const std::lock_guard lock(mutex_);
    for (const std::int32_t id : ids) {
      if (!entries_.contains(id)) forget_some();
      const auto [at, is_new] = entries_.try_emplace(id);
      Entry& entry = at->second;
      if (is_settled(entry)) continue;
      if (!std::exchange(entry.wanted, true)) {
        entry.trouble.clear();
        fresh = true;
      }
      fresh |= is_new;
      if (!why.empty()) continue;
      why = "schema " + std::to_string(static_cast<std::uint32_t>(id)) + " is not known yet";
      if (!entry.trouble.empty()) why += ": " + entry.trouble;
    }
    fresh_ |= fresh;
  }
  if (fresh) changed_.notify_all();
  return why;
}

// Only what is asked again anyway, so that who was just told that an id has no schema finds none.
void SchemaCache::forget_some() {
  if (entries_.size() < kMaxEntries) return;
  std::erase_if(entries_,
                [this](const auto& entry) { return !entry.second.wanted && !is_settled(entry.second); });
}

std::optional<AvroSchemas::Fetches> SchemaCache::fetches() const {
  const std::lock_guard lock(mutex_);
  return fetches_;
}

void SchemaCache::run() {
  auto pause = kFirstPause;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    fresh_ = false;
    lock.unlock();
    const bool all = fetch_wanted();
    lock.lock();
    const auto called = [this] { return stopping_ || fresh_; };
    if (all) {
      pause = kFirstPause;
      changed_.wait(lock, called);
    } else {
      // A schema that is asked for meanwhile does not wait: it may be another one that fails.
      changed_.wait_for(lock, pause, called);
      pause = std::min(2 * pause, kLongestPause);
    }
  }
}

bool SchemaCache::fetch_wanted() {
  std::vector<std::int32_t> wanted;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : entries_) {
      if (entry.wanted && entry.schema == nullptr) wanted.push_back(id);
    }
  }
  for (const std::int32_t id : wanted) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
    }
    take(id, fetch_(id));
  }
  const std::lock_guard lock(mutex_);
  return std::none_of(entries_.begin(), entries_.end(), [](const auto& entry) {
    return entry.second.wanted && entry.second.schema == nullptr;
  });
}

void SchemaCache::take(std::int32_t id, Result<std::string> text) {
  Result<std::shared_ptr<const AvroSchema>> schema =
      text ? AvroSchema::parse(*text) : Result<std::shared_ptr<const AvroSchema>>(text.error());
  const bool unreadable = text && !schema;
  bool say = false;
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[id];
    entry.wanted = !schema && schema.error().kind != ErrorKind::kRefused;
    ++(schema ? fetches_.found : (entry.wanted ? fetches_.failed : fetches_.none));
    if (schema) {
      entry.schema = std::move(*schema);
    } else {
      entry.trouble = schema.error().message;
      say = unreadable && !std::exchange(entry.said, true);
    }
    entry.answered_ms = clock_.steady_ms();
  }
  if (say)
    log_('e', "schema " + std::to_string(static_cast<std::uint32_t>(id)) +
                  " of the registry is no Avro schema, its readings go to the dead letters as "
                  "unknown_schema: " +
                  schema.error().message);
}

}  // namespace hourfold
