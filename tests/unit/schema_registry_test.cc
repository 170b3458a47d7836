// A registry in the process, and partitions that wait for it.
#include "http/schema_registry.h"

#include <doctest/doctest.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "app/open_schemas.h"
#include "app/schema_cache.h"
#include "app/sink_threads.h"
#include "app/worker_threads.h"
#include "support/fake_ports.h"
#include "tests/unit/payload_examples.h"

namespace hourfold {
namespace {

const std::string kDevice =
    R"({"type":"record","name":"R","fields":[{"name":"device","type":"string"},{"name":"ts","type":"long"},{"name":"t","type":"double"}]})";
const std::string kReading =
    "046431"
    "80a0d5edee66"
    "0000000000803540";

void wait_until(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string answer_of(const std::string& schema) { return nlohmann::json{{"schema", schema}}.dump(); }

class Registry {
 public:
  using Answer = std::function<void(const httplib::Request&, httplib::Response&)>;

  explicit Registry(Answer answer) {
    server_.Get(".*", std::move(answer));
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    wait_until([this] { return server_.is_running(); });
  }
  ~Registry() {
    server_.stop();
    thread_.join();
  }
  std::string url(const std::string& user = "") const {
    return "http://" + user + "127.0.0.1:" + std::to_string(port_);
  }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

Result<std::string> fetch_from(const std::string& url, std::int32_t id) {
  auto registry = SchemaRegistry::create(url);
  REQUIRE_MESSAGE(static_cast<bool>(registry), (registry ? std::string() : registry.error().message));
  return (*registry)->fetch(id);
}

TEST_CASE("registry: addresses") {
  for (const std::string good : {"http://registry:8081", "http://registry", "http://[::1]:8081",
                                 "https://u:p%40ss@registry/ccompat/v7/"}) {
    CAPTURE(good);
    CHECK(SchemaRegistry::create(good));
  }
  for (const std::string bad :
       {"registry:8081", "ftp://registry", "http://", "http://:8081", "http://registry:x",
        "http://registry:70000", "http://u:%zz@registry", "http://a b", "http://r?x=1"}) {
    CAPTURE(bad);
    const auto registry = SchemaRegistry::create(bad);
    REQUIRE_FALSE(registry);
    CHECK(registry.error().kind == ErrorKind::kRefused);
  }
}

TEST_CASE("registry: what it answers") {
  std::mutex mutex;
  std::string last_authorization;
  const auto authorization = [&] {
    const std::lock_guard lock(mutex);
    return last_authorization;
  };
  const Registry registry([&](const httplib::Request& request, httplib::Response& response) {
    {
      const std::lock_guard lock(mutex);
      last_authorization = request.get_header_value("Authorization");
    }
    const std::string json = "application/vnd.schemaregistry.v1+json";
    if (request.path == "/schemas/ids/42" || request.path == "/ccompat/v7/schemas/ids/42") {
      response.set_content(answer_of(kDevice), json);
    } else if (request.path == "/schemas/ids/43") {
      const bool resolved = request.get_param_value("format") == "resolved";
      response.set_content(
          resolved ? answer_of("\"int\"")
                   : R"({"schema":"\"a.B\"","references":[{"name":"a.B","subject":"b","version":1}]})",
          json);
    } else if (request.path == "/schemas/ids/44") {
      response.set_content(R"({"schemaType":"PROTOBUF","schema":"syntax"})", json);
    } else if (request.path == "/schemas/ids/45") {
      response.status = 404;
      response.set_content(R"({"error_code":40403,"message":"Schema 45 not found"})", json);
    } else if (request.path == "/schemas/ids/46") {
      response.status = 401;
      response.set_content(R"({"error_code":40101,"message":"Unauthorized"})", json);
    } else if (request.path == "/schemas/ids/47") {
      response.set_content("<html>", "text/html");
    } else if (request.path == "/schemas/ids/48") {
      response.set_content(std::string(9 << 20, 'x'), json);
    } else if (request.path == "/schemas/ids/4294967295") {
      response.set_content(answer_of("\"long\""), json);
    } else {
      response.status = 404;
      response.set_content("404 page not found", "text/plain");
    }
  });
  const auto text = [&](std::int32_t id, const std::string& path = "") {
    auto fetched = fetch_from(registry.url() + path, id);
    return fetched ? *fetched : std::string(to_string(fetched.error().kind)) + ": " + fetched.error().message;
  };
  CHECK(text(42) == kDevice);
  CHECK(authorization().empty());
  CHECK(text(42, "/ccompat/v7/") == kDevice);
  CHECK(text(43) == "\"int\"");
  CHECK(text(44) == "refused: it is one of PROTOBUF, not of Avro");
  CHECK(text(45) == "refused: the registry has none of this id");
  CHECK(text(46) == "unavailable: " + registry.url() + " answered 401 (Unauthorized)");
  CHECK(text(47) == "unavailable: " + registry.url() + " answered, but not as a schema registry does");
  CHECK(text(48) == "unavailable: " + registry.url() + " does not answer (its answer is too large)");
  CHECK(text(-1) == "\"long\"");
  // Not the registry's own word, but of something in between.
  CHECK(text(99) == "unavailable: " + registry.url() + " answered 404");

  CHECK(fetch_from(registry.url("user:p%40ss@"), 42));
  CHECK(authorization() == "Basic dXNlcjpwQHNz");
  const auto unauthorized = fetch_from(registry.url("user:p%40ss@"), 46);
  REQUIRE_FALSE(unauthorized);
  CHECK(unauthorized.error().message.find("ss") == std::string::npos);
}

TEST_CASE("registry: nobody there") {
  std::string url;
  {
    const Registry gone([](const httplib::Request&, httplib::Response&) {});
    url = gone.url();
  }
  const auto fetched = fetch_from(url, 42);
  REQUIRE_FALSE(fetched);
  CHECK(fetched.error().kind == ErrorKind::kUnavailable);
  CHECK(fetched.error().message == url + " does not answer (no connection)");
}

class SteadyClock final : public Clock {
 public:
  EpochMs now_ms() const override { return PayloadExample::kArrival + kHourMs + steady_ms(); }
  std::int64_t steady_ms() const override { return ms; }
  std::atomic<std::int64_t> ms{1'000};
};

TEST_CASE("schemas: found for ever, missing for a while, away never") {
  SteadyClock clock;
  std::mutex mutex;
  std::map<std::int32_t, Result<std::string>> answers;
  std::atomic<int> asked{0};
  std::atomic<bool> answers_come{false};
  std::vector<std::string> logged;
  const auto answer = [&](std::int32_t id, Result<std::string> text) {
    const std::lock_guard lock(mutex);
    answers.insert_or_assign(id, std::move(text));
  };
  answer(1, std::string("\"long\""));
  answer(2, refused("none"));
  answer(3, unavailable("away"));
  answer(4, std::string("{"));
  SchemaCache schemas(
      [&](std::int32_t id) {
        ++asked;
        wait_until([&] { return answers_come.load(); });
        const std::lock_guard lock(mutex);
        return answers.at(id);
      },
      clock,
      [&](char, const std::string& line) {
        const std::lock_guard lock(mutex);
        logged.push_back(line);
      });
  const auto why_not = [&](std::int32_t id) { return schemas.why_not_yet({&id, 1}); };

  CHECK(why_not(1) == "schema 1 is not known yet");
  CHECK(schemas.find(1) == nullptr);
  answers_come = true;
  wait_until([&] { return why_not(1).empty(); });
  CHECK(schemas.find(1) != nullptr);
  CHECK(schemas.find(std::nullopt) == nullptr);
  wait_until([&] { return why_not(2).empty(); });
  CHECK(schemas.find(2) == nullptr);
  wait_until([&] { return why_not(4).empty(); });
  CHECK(schemas.find(4) == nullptr);
  {
    const std::lock_guard lock(mutex);
    REQUIRE(logged.size() == 1);
    CHECK(logged.front() ==
          "schema 4 of the registry is no Avro schema, its readings go to the dead letters as "
          "unknown_schema: it "
          "is no JSON");
  }

  wait_until([&] { return why_not(3) == "schema 3 is not known yet: away"; });
  const std::vector<std::int32_t> both = {1, 3};
  CHECK(schemas.why_not_yet(both) == "schema 3 is not known yet: away");
  answer(3, std::string("\"int\""));
  wait_until([&] { return why_not(3).empty(); });
  CHECK(schemas.find(3) != nullptr);

  const auto fetches = schemas.fetches();
  REQUIRE(fetches);
  CHECK(fetches->found == 2);
  CHECK(fetches->none == 2);
  CHECK(fetches->failed >= 1);

  // A minute later somebody may have registered it; until that is known, what comes waits.
  answer(2, unavailable("away"));
  answer(1, unavailable("away"));
  clock.ms += SchemaCache::kBelievedMs - 1;
  CHECK(why_not(2).empty());
  clock.ms += 1;
  wait_until([&] { return why_not(2) == "schema 2 is not known yet: away"; });
  CHECK(why_not(1).empty());
  answer(2, std::string("\"string\""));
  wait_until([&] { return why_not(2).empty(); });
  CHECK(schemas.find(2) != nullptr);
  const int before = asked;
  CHECK(why_not(4) != "");  // asked again, too, but not said again
  wait_until([&] { return why_not(4).empty(); });
  CHECK(asked > before);
  const std::lock_guard lock(mutex);
  CHECK(logged.size() == 1);
}

RecordBatch batch_of(const std::string& hex, std::int64_t offset) {
  auto text = std::make_shared<std::string>(test::unhex(hex));
  RecordBatch batch;
  batch.partition = {0};
  Record record;
  record.offset = {offset};
  record.timestamp_ms = PayloadExample::kArrival;
  record.value = *text;
  batch.records.push_back(record);
  batch.bytes = text->size();
  batch.memory = text;
  return batch;
}

class NoTable final : public RollupTable {
 public:
  Result<void> put(std::span<const RowPut>) override { return {}; }
  Result<std::vector<RowLookup>> look_up(std::span<const std::string> keys, std::string_view) override {
    return std::vector<RowLookup>(keys.size());
  }
  Result<std::vector<StoredRow>> read(std::span<const std::string>) override { return fatal("no"); }
  Result<void> scan(const std::string&, const std::string&, bool,
                    const std::function<bool(const StoredRow&)>&) override {
    return fatal("no");
  }
  Result<std::optional<StoredRow>> get(const std::string&) override { return fatal("no"); }
  Result<bool> empty() override { return true; }
  Result<void> create(const TableSpec&) override { return fatal("no"); }
  Result<std::vector<TableFinding>> check(const TableSpec&) override { return std::vector<TableFinding>(); }
};

TEST_CASE("a partition holds what it cannot read yet, and goes on once the registry answers") {
  enum class State { kBroken, kWell };
  std::atomic<State> state{State::kBroken};
  const Registry registry([&](const httplib::Request& request, httplib::Response& response) {
    if (state == State::kBroken) {
      response.status = 500;
    } else if (request.path == "/schemas/ids/42") {
      response.set_content(answer_of(kDevice), "application/json");
    } else {
      response.status = 404;
      response.set_content(R"({"error_code":40403,"message":"not found"})", "application/json");
    }
  });
  ReadingShape shape;
  shape.format = PayloadFormat::kAvro;
  shape.framing = ValueFraming::kConfluent;
  shape.metrics = "";
  shape.schema_registry = registry.url();
  auto schemas = open_schemas(shape, [](char, const std::string&) {});
  REQUIRE(schemas);

  SteadyClock clock;
  NoTable table;
  SinkThreads sink(table, 1, [](double, bool) {});
  WorkerThread thread(clock, 0);
  MemoryStores stores;
  PartitionTask::Parts parts;
  std::string notice;
  auto store = stores.open({0}, notice);
  REQUIRE(store);
  parts.store = std::move(*store);
  parts.sink = sink.open([&thread] { thread.wake(); });
  parts.side = std::make_unique<test::FakeSide>();
  parts.schemas = schemas->get();
  WorkerSettings settings;
  settings.topic = "t";
  settings.shape = shape;
  settings.schemas = schemas->get();
  auto worker =
      PartitionWorker::open(settings, StartPlan(), *parts.store, *parts.sink, *parts.side, clock.now_ms());
  REQUIRE(worker);
  parts.worker = std::move(*worker);
  const auto task = std::make_shared<PartitionTask>(std::move(parts));
  thread.add(task);

  task->push(batch_of("000000002a" + kReading, 0));
  task->push(batch_of("000000002b" + kReading, 1));
  wait_until([&] {
    clock.ms += 200;
    return task->trouble().what == "schema 42 is not known yet: " + registry.url() + " answered 500";
  });
  CHECK(task->counters().records.get() == 0);
  CHECK(task->queued_bytes() > 0);
  CHECK_FALSE(task->failure());

  state = State::kWell;
  wait_until([&] { return task->counters().records.get() == 2; });
  wait_until([&] {
    clock.ms += 200;
    return task->trouble().what.empty();
  });
  const CounterTotals totals = task->totals();
  CHECK(totals.folded == 1);
  CHECK(totals.malformed == 1);
  CHECK(totals.malformed_by_reason[static_cast<std::size_t>(Malformed::kUnknownSchema)] == 1);
  CHECK(task->queued_bytes() == 0);
  thread.close(task);
  CHECK(sink.stop(std::chrono::seconds(10)));
}

}  // namespace
}  // namespace hourfold
