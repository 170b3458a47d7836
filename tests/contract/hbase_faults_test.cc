// What the HBase table makes of a network and of servers that misbehave.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "hbase/hbase_table.h"
#include "hbase_fixture.h"
#include "tcp_fakes.h"

using namespace hourfold;
using namespace hourfold::contract;
using Answers = TcpProxy::Answers;

namespace {

// A created table, seen through a proxy.
struct Behind {
  explicit Behind(std::int64_t timeout_ms = 60'000, std::uint32_t connections = 1)
      : config(hbase_config(new_table_name())), proxy(config.address) {
    created_table(config);
    config.address = proxy.address();
    config.timeout_ms = timeout_ms;
    config.connections = connections;
    table = hbase_table(config);
    REQUIRE(put(1));
  }
  Result<void> put(std::int64_t timestamp) {
    const RowPut row = one_row("\1k", timestamp, std::to_string(timestamp));
    return table->put(std::span(&row, 1));
  }
  std::int64_t stored() {
    auto row = table->get("\1k");
    REQUIRE_MESSAGE(row, row.error().message);
    return (*row)->cells[0].timestamp;
  }

  SinkConfig config;
  TcpProxy proxy;
  std::unique_ptr<HbaseTable> table;
};

void check_kind(const Result<void>& result, ErrorKind kind) {
  REQUIRE(!result);
  CHECK_MESSAGE(result.error().kind == kind, result.error().message);
}

// The first call to a server that is not what it should be.
Error first_error(const SinkConfig& config) {
  auto checked = hbase_table(config)->check(suite_spec());
  REQUIRE(!checked);
  return checked.error();
}

SinkConfig fake_config(const Listener& server) {
  SinkConfig config = hbase_config("t");
  config.address = server.address();
  config.transport = ThriftTransport::kBuffered;
  config.protocol = ThriftProtocol::kBinary;
  config.timeout_ms = 300;
  return config;
}

}  // namespace

TEST_CASE("case 20: hbase faults: connections that the server closed while idle are replaced unseen") {
  Behind behind;
  for (int i = 2; i < 5; ++i) {
    behind.proxy.cut_connections();
    const auto done = behind.put(i);
    REQUIRE_MESSAGE(done, done.error().message);
    CHECK(behind.stored() == i);
  }
}

TEST_CASE("case 18: hbase faults: a call whose answer was cut off is sent once more") {
  Behind behind;
  behind.proxy.answers(Answers::kCut, 1);
  const auto done = behind.put(2);
  REQUIRE_MESSAGE(done, done.error().message);
  CHECK(behind.stored() == 2);
}

TEST_CASE("hbase faults: without an answer a write may have happened, a read did not") {
  Behind behind(700);
  SUBCASE("cut") { behind.proxy.answers(Answers::kCut); }
  SUBCASE("swallowed") { behind.proxy.answers(Answers::kSwallow); }
  check_kind(behind.put(2), ErrorKind::kUnknown);
  auto row = behind.table->get("\1k");
  REQUIRE(!row);
  CHECK(row.error().kind == ErrorKind::kUnavailable);
  behind.proxy.answers(Answers::kForward);
  CHECK(behind.stored() == 2);
}

TEST_CASE("hbase faults: no server is unavailable, and the table comes back with it") {
  Behind behind;
  behind.proxy.refuse();
  const auto began = std::chrono::steady_clock::now();
  check_kind(behind.put(2), ErrorKind::kUnavailable);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(6));
  behind.proxy.accept_again();
  CHECK(behind.put(3));
  CHECK(behind.stored() == 3);
}

TEST_CASE("hbase faults: a server once known is in trouble, not wrong") {
  Behind behind;
  behind.proxy.answers(Answers::kCut);
  behind.proxy.cut_connections();
  check_kind(behind.put(2), ErrorKind::kUnavailable);
}

TEST_CASE("hbase faults: the first connection of all may be cut, too") {
  SinkConfig config = hbase_config(new_table_name());
  created_table(config);
  TcpProxy proxy(config.address);
  proxy.answers(Answers::kCut);
  config.address = proxy.address();
  const auto table = hbase_table(config);
  auto checked = table->check(suite_spec());
  REQUIRE(!checked);
  CHECK_MESSAGE(checked.error().kind == ErrorKind::kUnavailable, checked.error().message);
  proxy.answers(Answers::kForward);
  checked = table->check(suite_spec());
  REQUIRE_MESSAGE(checked, checked.error().message);
  CHECK(checked->empty());
}

// A Put of an owner before us may land at any moment. Taken for rollups without a contribution it would cost
// the readings that wait; taken for no row it would begin the hour anew.
TEST_CASE("hbase faults: a row that is written in the middle of its look-up is found whole") {
  SinkConfig config = hbase_config(new_table_name());
  const auto direct = created_table(config);
  TcpProxy proxy(config.address);
  std::atomic<int> written{0};
  proxy.cut_if = [&](std::string_view answer) {
    if (answer.find("getMultiple") == std::string_view::npos || written++ > 0) return false;
    const RowPut row = one_row("\1k", 5, "v");
    const auto done = direct->put(std::span(&row, 1));
    REQUIRE_MESSAGE(done, done.error().message);
    return false;
  };
  config.address = proxy.address();
  const auto table = hbase_table(config);
  const std::vector<std::string> keys = {"\1k", "\2k"};
  const auto found = table->look_up(keys, "t/0");
  REQUIRE_MESSAGE(found, found.error().message);
  CHECK(written > 0);
  REQUIRE((*found)[0].contribution);
  CHECK((*found)[0].contribution->value == "v");
  CHECK_FALSE((*found)[0].has_rollup);
  CHECK_FALSE((*found)[1].contribution);
  CHECK_FALSE((*found)[1].has_rollup);
}

TEST_CASE("hbase faults: a creation whose confirmation was lost is recognised") {
  SinkConfig config = hbase_config(new_table_name());
  TcpProxy proxy(config.address);
  int lost = 0;
  proxy.cut_if = [&](std::string_view answer) {
    // A codec that is refused comes with a stack trace; the confirmation is short.
    const bool confirmed = answer.find("createTable") != std::string_view::npos && answer.size() < 100;
    lost += confirmed ? 1 : 0;
    return confirmed;
  };
  config.address = proxy.address();
  const auto table = hbase_table(config);
  auto created = table->create(suite_spec());
  REQUIRE_MESSAGE(created, created.error().message);
  CHECK(lost == 1);
  auto findings = table->check(suite_spec());
  REQUIRE_MESSAGE(findings, findings.error().message);
  CHECK(findings->empty());
}

TEST_CASE("hbase faults: more callers than connections wait for one") {
  Behind behind(60'000, 2);
  std::atomic<int> landed{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 12; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 10; ++i) {
        const RowPut row = one_row("\2k" + std::to_string(caller), i, "v");
        Result<void> done = behind.table->put(std::span(&row, 1));
        // A connection may be cut again while it is being replaced.
        for (int attempt = 0; !done && done.error().retryable() && attempt < 50; ++attempt)
          done = behind.table->put(std::span(&row, 1));
        landed += done ? 1 : 0;
        if (caller == 0) behind.proxy.cut_connections();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(landed == 120);
}

TEST_CASE("hbase faults: the wrong transport or protocol is named, with the right one") {
  const SinkConfig right = hbase_config("t");
  for (const ThriftTransport transport : {ThriftTransport::kBuffered, ThriftTransport::kFramed}) {
    for (const ThriftProtocol protocol : {ThriftProtocol::kBinary, ThriftProtocol::kCompact}) {
      if (transport == right.transport && protocol == right.protocol) continue;
      SinkConfig wrong = right;
      wrong.transport = transport;
      wrong.protocol = protocol;
      wrong.timeout_ms = 2'000;
      const Error error = first_error(wrong);
      CHECK(error.kind == ErrorKind::kFatal);
      const std::string expected = right.transport == ThriftTransport::kFramed
                                       ? "set sink.transport to \"framed\""
                                       : "set sink.transport to \"buffered\"";
      CHECK(error.message.find(expected) != std::string::npos);
      CHECK(error.message.find(right.protocol == ThriftProtocol::kCompact ? "\"compact\"" : "\"binary\"") !=
            std::string::npos);
    }
  }
}

TEST_CASE("hbase faults: a Thrift1 server, and a Thrift server of another program") {
  // What HBase's Thrift1 answers: its type, 1. Before 2.3 it did not know the question.
  const std::string header("\x80\x01\x00\x02\x00\x00\x00\x13getThriftServerType\x00\x00\x00\x00", 31);
  const std::string unknown_header("\x80\x01\x00\x03\x00\x00\x00\x13getThriftServerType\x00\x00\x00\x00", 31);
  const std::string one = header + std::string("\x08\x00\x00\x00\x00\x00\x01\x00", 8);
  const std::string unknown_method =
      unknown_header + std::string("\x0b\x00\x01\x00\x00\x00\x02no\x08\x00\x02\x00\x00\x00\x01\x00", 17);
  for (const std::string& answer : {one, unknown_method}) {
    Listener server(canned(answer, true));
    const Error error = first_error(fake_config(server));
    CHECK(error.kind == ErrorKind::kFatal);
    CHECK(error.message.find("hbase thrift2") != std::string::npos);
  }
}

TEST_CASE("hbase faults: what is no Thrift server at all") {
  SUBCASE("speaks HTTP") {
    Listener server(canned("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", false));
    CHECK(first_error(fake_config(server)).kind == ErrorKind::kFatal);
  }
  // A load balancer whose servers are all away, and a server that is just ending, look the same.
  SUBCASE("hangs up") {
    Listener server(canned("", false));
    const Error error = first_error(fake_config(server));
    CHECK(error.kind == ErrorKind::kUnavailable);
    CHECK(error.message.find("closes the connection") != std::string::npos);
  }
  // A Thrift2 server with all its threads busy looks the same.
  SUBCASE("stays silent") {
    Listener server(canned("", true));
    const Error error = first_error(fake_config(server));
    CHECK(error.kind == ErrorKind::kUnavailable);
    CHECK(error.message.find("overloaded") != std::string::npos);
  }
}
