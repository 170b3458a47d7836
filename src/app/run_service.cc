#include "app/run_service.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "app/assemble.h"
#include "app/commands.h"
#include "app/metrics.h"
#include "app/readiness.h"
#include "http/http_server.h"

namespace hourfold {
namespace {

constexpr auto kFinishTimeout = std::chrono::seconds(20);

std::atomic<Service*> running{nullptr};
std::atomic<int> signals{0};

void on_signal(int number) {
  // Only what a signal handler may do. The second signal ends the process at once: state and offsets are safe
  // at any moment.
  if (signals.fetch_add(1) > 0) std::_Exit(128 + number);
  if (Service* service = running.load()) service->stop();
}

HttpHandlers handlers_of(const Service& service, const PutLatency& put_latency) {
  HttpHandlers handlers;
  handlers.metrics = [&] { return service_metrics(service, put_latency); };
  handlers.health = [&] { return why_not_well(service.status()); };
  handlers.ready = [&] { return why_not_ready(service.status()); };
  return handlers;
}

Result<std::unique_ptr<HttpServer>> start_http(const std::string& listen, HttpAddress address,
                                               HttpHandlers handlers, const LogLine& log) {
  if (listen.empty()) return std::unique_ptr<HttpServer>();
  auto server = HttpServer::start(listen, std::move(handlers));
  if (server) {
    log('i', "listening on http://" + (*server)->address() + " (/metrics, /healthz, /readyz)");
  } else if (address == HttpAddress::kIfFree) {
    log('w',
        "no metrics: " + server.error().message + "; give it an address of its own with --set http.listen");
    return std::unique_ptr<HttpServer>();
  }
  return server;
}

}  // namespace

void catch_stop_signals() {
  std::signal(SIGTERM, on_signal);
  std::signal(SIGINT, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
}

bool stop_was_signalled() { return signals.load() > 0; }

int command_failed(const std::string& command, const Error& error) {
  std::fprintf(stderr, "hourfold %s: %s\n", command.c_str(), error.message.c_str());
  return error.kind == ErrorKind::kRefused ? kExitUsage : kExitService;
}

int run_service(const std::string& command, ServiceParts parts, HttpAddress address) {
  const LogLine log = parts.log;
  const Config config = parts.config;
  const bool must_end = parts.rebuild && !parts.rebuild->follow;
  PutLatency put_latency;
  parts.on_put = [&](double seconds, bool landed) {
    (landed ? put_latency.landed : put_latency.failed).record(seconds);
  };
  Service service(std::move(parts));
  running.store(&service);
  if (stop_was_signalled()) service.stop();
  auto http = start_http(config.http.listen, address, handlers_of(service, put_latency), log);
  if (!http) return command_failed(command, http.error());
  if (auto started = service.start(); !started) {
    running.store(nullptr);
    if (stop_was_signalled() && !must_end) return kExitDone;
    return command_failed(command, started.error());
  }
  log('i', "started; group " + config.kafka.group + ", topic " + config.kafka.topics.front());
  Result<void> ran = service.run();
  log('i', ran ? "stopping: writing what is pending" : "stopping after an error: writing what is pending");
  const bool ended = service.finish(kFinishTimeout);
  if (*http) (*http)->stop();
  running.store(nullptr);
  if (ran && must_end && !service.rebuild_done())
    ran = unavailable("stopped before its end; the same command goes on where it was");
  if (!ran) command_failed(command, ran.error());
  log('i', "stopped");
  if (!ended) {
    // A call to the table hangs. Its Put is absolute and what it was for is read again, so nothing is lost by
    // leaving it.
    std::fflush(nullptr);
    std::_Exit(ran ? kExitDone : kExitService);
  }
  return ran ? kExitDone : kExitService;
}

}  // namespace hourfold
