// The small HTTP server beside the service: /metrics, /healthz, /readyz, and / that says so.
//
// Threads: a fixed, small number of its own, on which the handlers are called, several at once. stop() and
// the destructor wait for them. Errors:  Fatal: an address that makes no sense or cannot be listened on,
// named in the message.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "http/metrics.h"

namespace hourfold {

struct HttpHandlers {
  std::function<std::vector<MetricFamily>()> metrics;
  // Empty: well (200). Otherwise the reason why not (503).
  std::function<std::optional<std::string>()> health;
  std::function<std::optional<std::string>()> ready;
};

class HttpServer {
 public:
  // address: "127.0.0.1:9464", "[::1]:9464", ":9464" for every interface; port 0 takes a free one.
  static Result<std::unique_ptr<HttpServer>> start(const std::string& address, HttpHandlers handlers);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // host:port as bound.
  const std::string& address() const;
  // Ends after the requests under way. Idempotent.
  void stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

struct HostPort {
  std::string host;
  int port = 0;
};
// Empty if it is no host:port.
std::optional<HostPort> parse_host_port(const std::string& address);

}  // namespace hourfold
