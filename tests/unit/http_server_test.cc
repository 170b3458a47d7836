#include "http/http_server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "http/latency_histogram.h"

namespace hourfold {
namespace {

// A client that shares no code with the server.
std::string http_get(const std::string& address, const std::string& path) {
  const auto parts = parse_host_port(address);
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(parts->port));
  ::inet_pton(AF_INET, parts->host.c_str(), &to.sin_addr);
  std::string answer;
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    [[maybe_unused]] const ssize_t sent = ::send(descriptor, request.data(), request.size(), 0);
    char piece[4096];
    for (ssize_t got; (got = ::recv(descriptor, piece, sizeof piece, 0)) > 0;) {
      answer.append(piece, static_cast<std::size_t>(got));
    }
  }
  ::close(descriptor);
  return answer;
}

std::vector<MetricFamily> some_metrics() {
  LatencyHistogram latency;
  latency.record(0.003);
  latency.record(0.2);
  latency.record(500);
  MetricSample put;
  put.labels = {{"outcome", "landed"}};
  put.histogram = latency.value();
  return {{"hourfold_readings_total",
           "Readings by result.",
           MetricType::kCounter,
           {{{{"result", "folded"}}, 3, {}}}},
          {"hourfold_put_seconds", "Duration of Puts.", MetricType::kHistogram, {put}},
          {"hourfold_empty", "Has no samples.", MetricType::kGauge, {}}};
}

HttpHandlers handlers(std::optional<std::string> ready) {
  return {some_metrics, [] { return std::nullopt; }, [ready] { return ready; }};
}

TEST_CASE("http: metrics are in the Prometheus text format") {
  const std::string text = to_prometheus_text(some_metrics());
  CHECK(
      text.find("# HELP hourfold_readings_total Readings by result.\n# TYPE hourfold_readings_total counter\n"
                "hourfold_readings_total{result=\"folded\"} 3\n") != std::string::npos);
  CHECK(text.find("hourfold_put_seconds_bucket{outcome=\"landed\",le=\"0.0025\"} 0\n") != std::string::npos);
  CHECK(text.find("hourfold_put_seconds_bucket{outcome=\"landed\",le=\"0.005\"} 1\n") != std::string::npos);
  CHECK(text.find("hourfold_put_seconds_bucket{outcome=\"landed\",le=\"120\"} 2\n") != std::string::npos);
  CHECK(text.find("hourfold_put_seconds_bucket{outcome=\"landed\",le=\"+Inf\"} 3\n") != std::string::npos);
  CHECK(text.find("hourfold_put_seconds_count{outcome=\"landed\"} 3\n") != std::string::npos);
  CHECK(text.find("hourfold_empty") == std::string::npos);
}

TEST_CASE("http: paths answer") {
  auto server = HttpServer::start("127.0.0.1:0", handlers("the table does not answer"));
  REQUIRE(server);
  const std::string& address = (*server)->address();
  CHECK(http_get(address, "/").find("/metrics") != std::string::npos);
  CHECK(http_get(address, "/healthz").starts_with("HTTP/1.1 200"));
  CHECK(http_get(address, "/healthz").ends_with("ok\n"));
  CHECK(http_get(address, "/readyz").starts_with("HTTP/1.1 503"));
  CHECK(http_get(address, "/readyz").ends_with("the table does not answer\n"));
  CHECK(http_get(address, "/nothing").starts_with("HTTP/1.1 404"));
  const std::string metrics = http_get(address, "/metrics");
  CHECK(metrics.find("Content-Type: text/plain; version=0.0.4") != std::string::npos);
  CHECK(metrics.ends_with(to_prometheus_text(some_metrics())));
}

TEST_CASE("http: a port in use is an error that names it") {
  auto first = HttpServer::start("127.0.0.1:0", handlers(std::nullopt));
  REQUIRE(first);
  const auto second = HttpServer::start((*first)->address(), handlers(std::nullopt));
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == ErrorKind::kFatal);
  CHECK(second.error().message.find((*first)->address()) != std::string::npos);
  CHECK(second.error().message.find("in use") != std::string::npos);
}

TEST_CASE("http: addresses that make no sense are refused") {
  for (const char* address :
       {"", "9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:70000", "1:2:3", "[::1]"}) {
    CAPTURE(address);
    CHECK_FALSE(HttpServer::start(address, handlers(std::nullopt)));
  }
  CHECK(parse_host_port("[::1]:80")->host == "::1");
  CHECK(parse_host_port(":80")->host == "0.0.0.0");
}

TEST_CASE("http: stop ends it, twice is once, and the port is free again") {
  auto server = HttpServer::start("127.0.0.1:0", handlers(std::nullopt));
  REQUIRE(server);
  const std::string address = (*server)->address();
  (*server)->stop();
  (*server)->stop();
  CHECK(http_get(address, "/healthz").empty());
  CHECK(HttpServer::start(address, handlers(std::nullopt)));
}

TEST_CASE("http: many threads record latencies, none is lost") {
  LatencyHistogram histogram;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) histogram.record(0.25);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const HistogramValue value = histogram.value();
  CHECK(value.count == 40'000);
  CHECK(value.sum == doctest::Approx(10'000));
  CHECK(value.buckets[6].cumulative_count == 0);       // up to 0.1
  CHECK(value.buckets[7].cumulative_count == 40'000);  // up to 0.25, bounds included
}

}  // namespace
}  // namespace hourfold
