// The schemas of a registry, which a thread of its own fetches once they are asked for.
//
// A schema that was found stays for ever, since ids never change their meaning. That there is none of an id
// is believed for a minute, then asked again. A registry that is away is asked until it answers, for as long
// as that takes: nothing is ever taken for unknown because of it. A schema that cannot be read is said once,
// and then as good as none.
//
// Threads: any. Ownership: fetch is called on the cache's own thread alone, until the destructor has waited
// for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "app/assemble.h"
#include "payload/avro_schemas.h"
#include "ports/clock.h"

namespace hourfold {

class SchemaCache final : public AvroSchemas {
 public:
  // The text of a schema. Refused: there is none. Any other error: ask again.
  using Fetch = std::function<Result<std::string>(std::int32_t id)>;

  static constexpr std::int64_t kBelievedMs = 60'000;

  SchemaCache(Fetch fetch, const Clock& clock, LogLine log);
  ~SchemaCache() override;

  std::shared_ptr<const AvroSchema> find(std::optional<std::int32_t> id) override;
  std::string why_not_yet(std::span<const std::int32_t> ids) override;
  std::optional<Fetches> fetches() const override;

 private:
  struct Entry {
    std::shared_ptr<const AvroSchema> schema;
    bool wanted = true;
    bool said = false;             // that it cannot be read
    std::int64_t answered_ms = 0;  // by the steady clock
    std::string trouble;           // of the last attempt
  };

  bool is_settled(const Entry& entry) const {
    return entry.schema != nullptr || (!entry.wanted && clock_.steady_ms() - entry.answered_ms < kBelievedMs);
  }
  void run();
  bool fetch_wanted();  // false: some are still wanted
  void take(std::int32_t id, Result<std::string> text);
  void forget_some();  // under the lock

  const Fetch fetch_;
  const Clock& clock_;
  const LogLine log_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::int32_t, Entry> entries_;
  Fetches fetches_;
  bool fresh_ = false;  // wanted since the thread looked
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hourfold
