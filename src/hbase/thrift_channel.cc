#include "hbase/thrift_channel.h"

#include <poll.h>
#include <thrift/TOutput.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include <limits>
#include <mutex>

namespace hourfold {
namespace {

using namespace apache::thrift;

constexpr std::uint32_t kBufferBytes = 64 * 1024;

class FramePerWrite final : public transport::TVirtualTransport<FramePerWrite> {
 public:
  explicit FramePerWrite(std::shared_ptr<transport::TTransport> socket)
      : TVirtualTransport(socket->getConfiguration()), frames_(std::move(socket)) {}

  bool isOpen() const override { return frames_.isOpen(); }
  void open() override { frames_.open(); }
  void close() override { frames_.close(); }
  std::uint32_t read(std::uint8_t* bytes, std::uint32_t size) { return frames_.read(bytes, size); }
  std::uint32_t readAll(std::uint8_t* bytes, std::uint32_t size) { return frames_.readAll(bytes, size); }
  void write(const std::uint8_t* bytes, std::uint32_t size) {
    frames_.write(bytes, size);
    frames_.flush();
  }

 private:
  transport::TFramedTransport frames_;
};

// The library counts bytes over the life of a transport in places; its default of 100 MB would end a healthy
// connection.
std::shared_ptr<TConfiguration> limits() {
  return std::make_shared<TConfiguration>(std::numeric_limits<int>::max(), std::numeric_limits<int>::max());
}

// Errors come back as values; the library would print them on stderr as well.
void silence_library() {
  static std::once_flag once;
  std::call_once(once, [] { GlobalOutput.setOutputFunction([](const char*) {}); });
}

std::shared_ptr<transport::TTransport> make_transport(const Endpoint& endpoint, Framing framing,
                                                      const std::shared_ptr<transport::TSocket>& socket) {
  if (endpoint.transport == ThriftTransport::kBuffered) {
    return std::make_shared<transport::TBufferedTransport>(socket, kBufferBytes, limits());
  }
  if (framing == Framing::kPerWrite) return std::make_shared<FramePerWrite>(socket);
  return std::make_shared<transport::TFramedTransport>(socket, limits());
}

std::shared_ptr<protocol::TProtocol> make_protocol(const Endpoint& endpoint,
                                                   const std::shared_ptr<transport::TTransport>& transport) {
  if (endpoint.protocol == ThriftProtocol::kCompact)
    return std::make_shared<protocol::TCompactProtocol>(transport);
  // Strict: the first bytes of an answer in another language are no length to allocate for.
  return std::make_shared<protocol::TBinaryProtocol>(transport, 0, 0, true, true);
}

}  // namespace

std::string Endpoint::dialect() const {
  return std::string(transport == ThriftTransport::kFramed ? "framed" : "buffered") + " transport and " +
         (protocol == ThriftProtocol::kCompact ? "compact" : "binary") + " protocol";
}

ThriftChannel::ThriftChannel(const Endpoint& endpoint, Framing framing)
    : endpoint_(endpoint), framing_(framing), call_timeout_ms_(endpoint.call_timeout_ms) {
  silence_library();
}

ThriftChannel::~ThriftChannel() { close(); }

void ThriftChannel::open() {
  close();
  socket_ = std::make_shared<transport::TSocket>(endpoint_.host, endpoint_.port, limits());
  socket_->setConnTimeout(endpoint_.connect_timeout_ms);
  socket_->setKeepAlive(true);
  socket_->setNoDelay(true);
  set_call_timeout(call_timeout_ms_);
  const auto stream = make_transport(endpoint_, framing_, socket_);
  client_ = std::make_unique<ThriftClient>(make_protocol(endpoint_, stream));
  stream->open();
}

void ThriftChannel::close() {
  client_.reset();
  if (socket_) socket_->close();
  socket_.reset();
}

bool ThriftChannel::usable() const {
  if (!socket_ || !socket_->isOpen()) return false;
  // No request is under way, so anything to read is the server's farewell.
  pollfd waiting{static_cast<int>(socket_->getSocketFD()), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 0;
}

void ThriftChannel::set_call_timeout(int ms) {
  call_timeout_ms_ = ms;
  if (!socket_) return;
  socket_->setRecvTimeout(ms);
  socket_->setSendTimeout(ms);
}

}  // namespace hourfold
