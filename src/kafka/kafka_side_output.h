// Side topics: dead letters, quarantine and archive on Kafka, by one idempotent producer for all partitions
// of the process.
//
// Nothing is given up: a record stays queued while its topic or broker is away (no message timeout), so an
// outage holds the committed offset and loses nothing; when the queue is full (queue.buffering.max.kbytes, 64
// MiB here), send() answers Unavailable. A record that its topic refuses for good goes again on
// its own (another one of its batch may be to blame), then with less and less: without its timestamp where
// that is refused; where it is too large, with an empty value, at last without key and foreign headers.
// hourfold.detail says so, and the headers still name where the original is. Only what is not taken even so,
// or for another reason, is Refused. A record without a timestamp gets the time of sending. Threads: as
// SideOutputs; delivery reports come on threads of this class. Close every SideOutput before the outputs.
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
  std::uint64_t failed = 0;   // each is sent again by its worker
  std::uint64_t reduced = 0;  // delivered without a part that the topic did not take
  std::uint64_t refused = 0;  // not taken in any form
  std::uint64_t queued = 0;   // on their way now
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
