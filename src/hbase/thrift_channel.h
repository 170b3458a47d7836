// One socket to a Thrift2 server, with the transport and protocol that the server was started with.
//
// Threads: one at a time. Errors: exceptions of the Thrift library, which the callers in this folder turn
// into values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "THBaseService.h"
#include "core/config.h"

namespace apache::thrift::transport {
class TSocket;
}  // namespace apache::thrift::transport

namespace hourfold {

using ThriftClient = hbase_thrift::THBaseServiceClient;

struct Endpoint {
  std::string host;
  int port = 0;
  ThriftTransport transport = ThriftTransport::kBuffered;
  ThriftProtocol protocol = ThriftProtocol::kBinary;
  int connect_timeout_ms = 5'000;
  int call_timeout_ms = 60'000;

  std::string address() const { return host + ":" + std::to_string(port); }
  std::string dialect() const;  // "framed transport and compact protocol"
};

// HBase 2.5 takes table attributes and split keys from the buffer that holds the whole frame, and gets the
// frame instead of the value. With every write in a frame of its own a value is never inside the frame that
// announced its length, and the server copies it.
enum class Framing : std::uint8_t { kPerCall, kPerWrite };

class ThriftChannel {
 public:
  explicit ThriftChannel(const Endpoint& endpoint, Framing framing = Framing::kPerCall);
  ~ThriftChannel();
  ThriftChannel(const ThriftChannel&) = delete;
  ThriftChannel& operator=(const ThriftChannel&) = delete;

  // A fresh socket and fresh buffers, whatever the last connection left behind.
  void open();
  void close();
  // Open, and the server has not closed its end since the last call.
  bool usable() const;
  void set_call_timeout(int ms);
  // Between open() and close().
  ThriftClient& client() { return *client_; }

 private:
  Endpoint endpoint_;
  Framing framing_;
  int call_timeout_ms_;
  std::shared_ptr<apache::thrift::transport::TSocket> socket_;
  std::unique_ptr<ThriftClient> client_;
};

}  // namespace hourfold
