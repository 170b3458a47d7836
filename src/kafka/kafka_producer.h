// A plain producer of records, idempotent and bounded: the simulated fleet of `hourfold demo`, tests and
// benchmarks.
//
// Threads: one. Nothing is sent for sure before flush() answered ok.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/types.h"
#include "kafka/client_options.h"
#include "ports/record_source.h"

namespace hourfold {

// What a producer sends. Views: copied before the call returns.
struct OutgoingRecord {
  std::string_view topic;
  std::optional<PartitionId> partition;  // empty: by the key, as Java's producer does (murmur2)
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;  // empty: a tombstone
  EpochMs timestamp_ms = -1;              // -1: now
  const RecordHeaders* headers = nullptr;
};

class KafkaProducer {
 public:
  static Result<std::unique_ptr<KafkaProducer>> create(const KafkaClientOptions& options);
  virtual ~KafkaProducer() = default;

  // Waits for room in the local queue. Unavailable: none within half a minute. Refused: too large.
  virtual Result<void> produce(const OutgoingRecord& record) = 0;
  // Unavailable: some are still on their way after timeout_ms. Otherwise the first failure since the last
  // flush().
  virtual Result<void> flush(int timeout_ms) = 0;
  virtual std::uint64_t delivered() const = 0;
};

}  // namespace hourfold
