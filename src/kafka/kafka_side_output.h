// Side topics: dead letters, quarantine and archive on Kafka, by one idempotent producer for all partitions
// of the process.
//
// Nothing is given up: a record stays queued while its topic or broker is away (no message timeout), so an
// outage holds the committed offset and loses nothing; when the queue is full (queue.buffering.max.kbytes, 64
// MiB here), send() answers Unavailable. A record that its topic refuses as too large is first sent again on
// its own (a batch may have been too large, not the record), then with an empty value and a hourfold.detail
// that says so; its headers still name where the original is. A record without a timestamp gets the time of
// sending. Threads: as SideOutputs; delivery reports come on threads of this class. Close every SideOutput
// before the outputs.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kafka/client_options.h"
#include "ports/side_output.h"

namespace hourfold {

struct KafkaSideOptions {
  KafkaClientOptions client;
  std::map<SideChannel, std::string> topics;  // the channels that go to Kafka
};

struct KafkaSideStats {
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;     // each is sent again by its worker
  std::uint64_t shortened = 0;  // delivered without their value
  std::uint64_t queued = 0;     // on their way now
};

class KafkaSideOutputs : public SideOutputs {
 public:
  // Fatal: a property that cannot be. Does not connect.
  static Result<std::unique_ptr<KafkaSideOutputs>> create(const KafkaSideOptions& options);

  // Any thread. The latest failure; empty again once a record was delivered.
  virtual std::string last_error() const = 0;
  virtual KafkaSideStats stats() const = 0;
};

}  // namespace hourfold
