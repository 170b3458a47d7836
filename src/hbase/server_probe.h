// Who is there? Asked on every new connection, and answered in full when the first one to a server fails.
//
// Threads: none of its own.
#pragma once

#include <cstdint>
#include <string>

#include "hbase/thrift_channel.h"

namespace hourfold {

enum class Greeting : std::uint8_t {
  kThrift2,
  kThrift1,     // HBase's older interface, or a Thrift server of another program
  kClosed,      // ended the connection without a word
  kSilent,      // no answer in time
  kUnreadable,  // answered in another language
};

// Asks an open channel for the type of its server.
Greeting greet(ThriftChannel& channel);

struct Diagnosis {
  bool final;           // waiting will not help
  std::string message;  // what was found and what to do
};

// Why the first greeting of this endpoint failed. Tries the other transports and protocols, for at most a few
// seconds.
Diagnosis diagnose(const Endpoint& endpoint, Greeting failed);

}  // namespace hourfold
