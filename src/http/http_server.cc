#include "http/http_server.h"

#include <httplib.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

namespace hourfold {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kMaxRequestBytes = 64 * 1024;
constexpr std::chrono::seconds kIoTimeout{5};

constexpr const char* kPlainText = "text/plain; charset=utf-8";
constexpr const char* kIndex =
    "hourfold: exact hourly rollups of device readings\n"
    "\n"
    "/metrics  counters, lag, latencies, for Prometheus\n"
    "/healthz  200 while the process works, otherwise 503 and the reason\n"
    "/readyz   200 while readings are folded and the table answers, otherwise 503 and the reason\n";

// The library's own default shares the port with whoever asks for it, so that a second server would steal
// requests unnoticed.
void own_the_port(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

void answer_state(const std::function<std::optional<std::string>()>& why_not, httplib::Response& response) {
  const auto reason = why_not();
  response.status = reason ? 503 : 200;
  response.set_content(reason ? *reason + "\n" : "ok\n", kPlainText);
}

std::string to_address(const std::string& host, int port) {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace

std::optional<HostPort> parse_host_port(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  HostPort parts;
  parts.host = address.substr(0, colon);
  const char* const begin = address.data() + colon + 1;
  const char* const end = address.data() + address.size();
  const auto [stop, error] = std::from_chars(begin, end, parts.port);
  if (error != std::errc() || stop != end || begin == end || parts.port < 0 || parts.port > 65535)
    return std::nullopt;
  if (parts.host.starts_with('[') && parts.host.ends_with(']')) {
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  } else if (parts.host.find(':') != std::string::npos) {
    return std::nullopt;
  }
  if (parts.host.empty()) parts.host = "0.0.0.0";
  return parts;
}

class HttpServer::Impl {
 public:
  explicit Impl(HttpHandlers handlers) : handlers_(std::move(handlers)) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_socket_options(own_the_port);
    // A connection that is kept open would hold one of the few threads.
    server_.set_keep_alive_max_count(1);
    server_.set_read_timeout(kIoTimeout);
    server_.set_write_timeout(kIoTimeout);
    server_.set_payload_max_length(kMaxRequestBytes);
    route();
  }
  ~Impl() { stop(); }

  Result<void> listen(const std::string& address);
  const std::string& address() const { return address_; }
  void stop();

 private:
  void route();

  HttpHandlers handlers_;
  httplib::Server server_;
  std::string address_;
  std::thread thread_;
};

void HttpServer::Impl::route() {
  using httplib::Request;
  using httplib::Response;
  server_.Get("/", [](const Request&, Response& response) { response.set_content(kIndex, kPlainText); });
  server_.Get("/metrics", [this](const Request&, Response& response) {
    response.set_content(to_prometheus_text(handlers_.metrics()), kPrometheusContentType);
  });
  server_.Get("/healthz",
              [this](const Request&, Response& response) { answer_state(handlers_.health, response); });
  server_.Get("/readyz",
              [this](const Request&, Response& response) { answer_state(handlers_.ready, response); });
  server_.set_error_handler([](const Request& request, Response& response) {
    if (response.body.empty() && response.status == 404) {
      response.set_content("nothing at " + request.path + "; see /\n", kPlainText);
    }
  });
}

Result<void> HttpServer::Impl::listen(const std::string& address) {
  const auto parts = parse_host_port(address);
  if (!parts) return fatal("http.listen: '" + address + "' is no host:port, such as 127.0.0.1:9464");
  errno = 0;
  int port = parts->port;
  bool bound = false;
  if (port == 0) {
    port = server_.bind_to_any_port(parts->host);
    bound = port > 0;
  } else {
    bound = server_.bind_to_port(parts->host, port);
  }
  if (!bound) {
    const int code = errno;
    std::string why = code == 0 ? "no such host" : std::strerror(code);
    if (code == EADDRINUSE)
      why += "; end the other process, or set http.listen to another port (or \"\" for no server)";
    return fatal("http.listen: cannot listen on " + address + ": " + why);
  }
  address_ = to_address(parts->host, port);
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  // A stop() before the loop runs would be lost.
  while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return {};
}

void HttpServer::Impl::stop() {
  if (!thread_.joinable()) return;
  server_.stop();
  thread_.join();
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, HttpHandlers handlers) {
  auto impl = std::make_unique<Impl>(std::move(handlers));
  if (auto listening = impl->listen(address); !listening) return listening.error();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return impl_->address(); }
void HttpServer::stop() { impl_->stop(); }

}  // namespace hourfold
