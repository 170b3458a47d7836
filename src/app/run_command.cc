#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "app/assemble.h"
#include "app/commands.h"
#include "app/load_config.h"
#include "app/log.h"
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

int fail(const Error& error) {
  std::fprintf(stderr, "hourfold run: %s\n", error.message.c_str());
  return error.kind == ErrorKind::kRefused ? kExitUsage : kExitService;
}

HttpHandlers handlers_of(const Service& service, const PutLatency& put_latency) {
  HttpHandlers handlers;
  handlers.metrics = [&] { return service_metrics(service, put_latency); };
  handlers.health = [&] { return why_not_well(service.status()); };
  handlers.ready = [&] { return why_not_ready(service.status()); };
  return handlers;
}

}  // namespace

int run_command(const RunOptions& options) {
  if (!set_log_level(options.log_level)) {
    std::fprintf(stderr,
                 "hourfold run: --log-level %s: no such level; use trace, debug, info, warn, error or off\n",
                 options.log_level.c_str());
    return kExitUsage;
  }
  const auto config = load_config(options.config, NeedsKafka::kYes);
  if (!config) return kExitUsage;
  std::signal(SIGTERM, on_signal);
  std::signal(SIGINT, on_signal);
  std::signal(SIGPIPE, SIG_IGN);

  const LogLine log = log_line();
  PutLatency put_latency;
  auto parts = assemble(*config, system_clock(), log);
  if (!parts) return fail(parts.error());
  parts->on_put = [&](double seconds, bool landed) {
    (landed ? put_latency.landed : put_latency.failed).record(seconds);
  };
  Service service(std::move(*parts));
  running.store(&service);
  if (signals.load() > 0) service.stop();
  std::unique_ptr<HttpServer> http;
  if (!config->http.listen.empty()) {
    auto server = HttpServer::start(config->http.listen, handlers_of(service, put_latency));
    if (!server) return fail(server.error());
    http = std::move(*server);
    log('i', "listening on http://" + http->address() + " (/metrics, /healthz, /readyz)");
  }
  if (auto started = service.start(); !started) {
    if (signals.load() > 0) return kExitDone;
    return fail(started.error());
  }
  log('i', "started; group " + config->kafka.group + ", topic " + config->kafka.topics.front());
  const Result<void> ran = service.run();
  log('i', ran ? "stopping: writing what is pending" : "stopping after an error: writing what is pending");
  const bool ended = service.finish(kFinishTimeout);
  if (http) http->stop();
  running.store(nullptr);
  if (!ran) fail(ran.error());
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
