// A fixed number of connections to one Thrift2 server. A call takes one, waits if none is free, and gives it
// back. Connections are made when first needed and made again when the server has closed them (it does so
// after a quiet minute).
//
// A new connection first asks for the type of the server, so that a wrong server, transport or protocol is
// told from a failing one. A call that met a dead socket on a connection used before is sent once more on a
// new one: every call here may be repeated.
//
// Threads: every call from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hbase/thrift_channel.h"

namespace hourfold {

// How a call can fail, before it is known what that means for the caller.
struct CallFailure {
  enum class Kind : std::uint8_t {
    kNotSent,      // no connection
    kNoAnswer,     // sent, perhaps, and no answer that could be read
    kIoError,      // HBase answered with an error
    kServerFault,  // the Thrift server failed inside; for a request that it cannot make sense of, too
    kWrongServer,  // nothing that we can talk to, now or later
  };
  Kind kind;
  std::string message;            // what came back
  std::optional<bool> can_retry;  // of kIoError: HBase's own word on it
  bool timed_out = false;         // of kNoAnswer
};

class ConnectionPool {
 public:
  ConnectionPool(Endpoint endpoint, std::uint32_t connections);
  ~ConnectionPool();

  std::optional<CallFailure> call(const std::function<void(ThriftClient&)>& request);
  // On a connection of its own in which a framed transport has a frame for every write.
  std::optional<CallFailure> call_frame_per_write(const std::function<void(ThriftClient&)>& request);

  const Endpoint& endpoint() const { return endpoint_; }

 private:
  class Lease;

  std::optional<CallFailure> connect(ThriftChannel& channel);

  const Endpoint endpoint_;
  std::atomic<bool> seen_{false};  // a server of the right kind has answered
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<ThriftChannel>> free_;  // the one used last is at the end
};

}  // namespace hourfold
