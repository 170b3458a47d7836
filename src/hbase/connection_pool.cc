#include "hbase/connection_pool.h"

#include <thrift/TApplicationException.h>
#include <thrift/protocol/TProtocolException.h>
#include <thrift/transport/TTransportException.h>

#include <algorithm>
#include <exception>

#include "hbase/server_probe.h"

namespace hourfold {
namespace {

using apache::thrift::TApplicationException;
using apache::thrift::transport::TTransportException;
using Kind = CallFailure::Kind;

constexpr int kHandshakeTimeoutMs = 5'000;

CallFailure no_answer(const TTransportException& error, const Endpoint& endpoint) {
  if (error.getType() == TTransportException::TIMED_OUT) {
    return {Kind::kNoAnswer, "no answer within " + std::to_string(endpoint.call_timeout_ms) + " ms",
            std::nullopt, true};
  }
  if (error.getType() == TTransportException::END_OF_FILE) {
    return {Kind::kNoAnswer, "the server closed the connection before it answered", std::nullopt, false};
  }
  return {Kind::kNoAnswer, std::string("the connection broke: ") + error.what(), std::nullopt, false};
}

// Runs the request on an open channel. After anything but a proper answer nobody knows what is still in the
// stream, so it is closed.
std::optional<CallFailure> attempt(ThriftChannel& channel, const Endpoint& endpoint,
                                   const std::function<void(ThriftClient&)>& request) {
  try {
    request(channel.client());
    return std::nullopt;
  } catch (const hbase_thrift::TIOError& error) {
    return CallFailure{Kind::kIoError, error.message,
                       error.__isset.canRetry ? std::optional<bool>(error.canRetry) : std::nullopt, false};
  } catch (const TApplicationException& error) {
    channel.close();
    return CallFailure{Kind::kServerFault, error.what(), std::nullopt, false};
  } catch (const TTransportException& error) {
    channel.close();
    return no_answer(error, endpoint);
  } catch (const std::exception& error) {
    channel.close();
    return CallFailure{Kind::kNoAnswer, std::string("an answer that cannot be read: ") + error.what(),
                       std::nullopt, false};
  }
}

}  // namespace

// One connection, held for the length of a call.
class ConnectionPool::Lease {
 public:
  explicit Lease(ConnectionPool& pool) : pool_(pool) {
    std::unique_lock lock(pool_.mutex_);
    pool_.freed_.wait(lock, [&] { return !pool_.free_.empty(); });
    channel_ = std::move(pool_.free_.back());
    pool_.free_.pop_back();
  }
  ~Lease() {
    {
      const std::scoped_lock lock(pool_.mutex_);
      pool_.free_.push_back(std::move(channel_));
    }
    pool_.freed_.notify_one();
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  ThriftChannel& channel() { return *channel_; }

 private:
  ConnectionPool& pool_;
  std::unique_ptr<ThriftChannel> channel_;
};

ConnectionPool::ConnectionPool(Endpoint endpoint, std::uint32_t connections)
    : endpoint_(std::move(endpoint)) {
  free_.reserve(connections);
  for (std::uint32_t i = 0; i < std::max(connections, 1U); ++i)
    free_.push_back(std::make_unique<ThriftChannel>(endpoint_));
}

ConnectionPool::~ConnectionPool() = default;

std::optional<CallFailure> ConnectionPool::call(const std::function<void(ThriftClient&)>& request) {
  Lease lease(*this);
  ThriftChannel& channel = lease.channel();
  const bool used_before = channel.usable();
  if (!used_before) {
    if (auto failure = connect(channel)) return failure;
  }
  std::optional<CallFailure> failure = attempt(channel, endpoint_, request);
  const bool died_of_age = used_before && failure && failure->kind == Kind::kNoAnswer && !failure->timed_out;
  if (!died_of_age) return failure;
  // The first sending may have been carried out, whatever the second meets.
  if (connect(channel)) return failure;
  return attempt(channel, endpoint_, request);
}

std::optional<CallFailure> ConnectionPool::call_frame_per_write(
    const std::function<void(ThriftClient&)>& request) {
  if (endpoint_.transport == ThriftTransport::kBuffered) return call(request);
  ThriftChannel channel(endpoint_, Framing::kPerWrite);
  std::optional<CallFailure> failure = connect(channel);
  if (!failure) return attempt(channel, endpoint_, request);
  const bool ordinary_frames_work = !call([](ThriftClient& client) { client.getThriftServerType(); });
  if (!ordinary_frames_work) return failure;
  return CallFailure{Kind::kWrongServer,
                     endpoint_.address() +
                         " takes one frame a call only, as servers of type nonblocking and hsha do, and such "
                         "a server garbles table "
                         "attributes and split keys: make the table through one started with -threadpool or "
                         "with buffered transport",
                     std::nullopt, false};
}

std::optional<CallFailure> ConnectionPool::connect(ThriftChannel& channel) {
  try {
    channel.set_call_timeout(std::min(kHandshakeTimeoutMs, endpoint_.call_timeout_ms));
    channel.open();
  } catch (const std::exception& error) {
    channel.close();
    return CallFailure{Kind::kNotSent,
                       std::string("no connection (") + error.what() +
                           "): is HBase's Thrift2 server running at sink.address?",
                       std::nullopt, false};
  }
  const Greeting greeting = greet(channel);
  if (greeting == Greeting::kThrift2) {
    seen_ = true;
    channel.set_call_timeout(endpoint_.call_timeout_ms);
    return std::nullopt;
  }
  channel.close();
  // A server that was right before is in trouble, not wrong.
  if (seen_) {
    return CallFailure{Kind::kNotSent,
                       "the server took the connection but did not say that it is a Thrift2 server",
                       std::nullopt, false};
  }
  const Diagnosis diagnosis = diagnose(endpoint_, greeting);
  return CallFailure{diagnosis.final ? Kind::kWrongServer : Kind::kNotSent, diagnosis.message, std::nullopt,
                     false};
}

}  // namespace hourfold
