#include "hbase/server_probe.h"

#include <thrift/TApplicationException.h>
#include <thrift/transport/TTransportException.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace hourfold {
namespace {

using apache::thrift::TApplicationException;
using apache::thrift::transport::TTransportException;

constexpr int kProbeTimeoutMs = 2'000;

std::optional<Greeting> greeting_of(const Endpoint& endpoint) {
  ThriftChannel channel(endpoint);
  try {
    channel.open();
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return greet(channel);
}

const char* transport_name(ThriftTransport transport) {
  return transport == ThriftTransport::kFramed ? "framed" : "buffered";
}
const char* protocol_name(ThriftProtocol protocol) {
  return protocol == ThriftProtocol::kCompact ? "compact" : "binary";
}

std::string is_thrift1(const Endpoint& endpoint) {
  return endpoint.address() +
         " is a Thrift server, but not HBase's Thrift2: start `hbase thrift2` and set sink.address to it";
}

// The same server in the other three dialects; empty if it understands none of them.
std::optional<Diagnosis> try_other_dialects(Endpoint endpoint) {
  const Endpoint configured = endpoint;
  endpoint.call_timeout_ms = std::min(kProbeTimeoutMs, configured.call_timeout_ms);
  for (const ThriftTransport transport : {ThriftTransport::kBuffered, ThriftTransport::kFramed}) {
    for (const ThriftProtocol protocol : {ThriftProtocol::kBinary, ThriftProtocol::kCompact}) {
      if (transport == configured.transport && protocol == configured.protocol) continue;
      endpoint.transport = transport;
      endpoint.protocol = protocol;
      const std::optional<Greeting> greeting = greeting_of(endpoint);
      if (greeting == Greeting::kThrift1) return Diagnosis{true, is_thrift1(endpoint)};
      if (greeting != Greeting::kThrift2) continue;
      return Diagnosis{true, endpoint.address() + " speaks " + endpoint.dialect() + ", not " +
                                 configured.dialect() + ": set sink.transport to \"" +
                                 transport_name(transport) + "\" and sink.protocol to \"" +
                                 protocol_name(protocol) + "\""};
    }
  }
  return std::nullopt;
}

}  // namespace

Greeting greet(ThriftChannel& channel) {
  try {
    return channel.client().getThriftServerType() == hbase_thrift::TThriftServerType::TWO
               ? Greeting::kThrift2
               : Greeting::kThrift1;
  } catch (const TApplicationException&) {
    return Greeting::kThrift1;
  } catch (const TTransportException& error) {
    if (error.getType() == TTransportException::TIMED_OUT) return Greeting::kSilent;
    return error.getType() == TTransportException::CORRUPTED_DATA ? Greeting::kUnreadable : Greeting::kClosed;
  } catch (const std::exception&) {
    return Greeting::kUnreadable;
  }
}

Diagnosis diagnose(const Endpoint& endpoint, Greeting failed) {
  if (failed == Greeting::kThrift1) return {true, is_thrift1(endpoint)};
  if (const auto found = try_other_dialects(endpoint)) return *found;
  const std::string what_to_do =
      ": check that sink.address names HBase's Thrift2 server and not another port, and that it runs without "
      "TLS, SASL and HTTP mode";
  switch (failed) {
    case Greeting::kSilent:
      return {false, endpoint.address() +
                         " takes connections but does not answer: it is overloaded (all its threads are "
                         "busy), or it is no "
                         "Thrift2 server" +
                         what_to_do};
    case Greeting::kClosed:
      return {false,
              endpoint.address() +
                  " closes the connection instead of answering: it is ending or starting, a load balancer "
                  "has no server behind it, or it is no Thrift2 server" +
                  what_to_do};
    default:
      return {true, endpoint.address() + " answers something that is not Thrift" + what_to_do};
  }
}

}  // namespace hourfold
