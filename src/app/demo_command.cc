#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "app/assemble.h"
#include "app/commands.h"
#include "app/demo_fleet.h"
#include "app/demo_oracle.h"
#include "app/demo_screen.h"
#include "app/log.h"
#include "app/run_service.h"
#include "kafka/kafka_producer.h"
#include "kafka/mock_broker.h"

namespace hourfold {
namespace {

constexpr std::int32_t kPartitions = 8;
constexpr const char* kTopic = "telemetry";
// The in-process broker keeps 5 MB a partition; the fleet stays well within.
constexpr std::int64_t kMaxAhead = 6'000;
constexpr double kSeconds = 25;

std::string demo_config(const MockBroker& broker, const std::filesystem::path& dir) {
  const auto quoted = [&](const char* name) { return "\"" + (dir / name).string() + "\""; };
  return R"({
  // Written by `hourfold demo`. The rollups stay readable: hourfold query -c THIS_FILE --device dev-000007 --plot
  "kafka": {"brokers": ")" +
         broker.bootstrap_servers() + R"(", "topics": ["telemetry"], "group": "hourfold-demo",
            "properties": {"session.timeout.ms": "6000"}},
  "state": {"dir": )" +
         quoted("state") + R"(, "checkpoint": "5s", "retention": "6h"},
  "sink": {"type": "embedded", "dir": )" +
         quoted("rollups") + R"(, "ttl": "forever"},
  "emit": {"refresh": "1s", "late_delay": "1s"},
  "side": {"dead_letter": )" +
         "\"file:" + (dir / "side").string() + "\", \"quarantine\": \"file:" + (dir / "side").string() +
         "\", \"archive\": \"file:" + (dir / "side").string() + R"("},
  "http": {"listen": ""}
}
)";
}

// Keeps the fleet within what the broker remembers, and to the pace of the show.
class Pace {
 public:
  Pace(const Service& service, DemoScreen& screen, const DemoFleetOptions& fleet)
      : service_(service), screen_(screen), fleet_(fleet), begin_(std::chrono::steady_clock::now()) {}

  void before_send(const DemoReading& reading, std::int32_t partition) {
    ++produced_[static_cast<std::size_t>(partition)];
    if (++count_ % 256 != 0) return;
    const double share = static_cast<double>(reading.arrival_ms - fleet_.begin_ms) /
                         static_cast<double>(fleet_.hours * kHourMs);
    while (true) {
      screen_.show(service_, std::min(reading.arrival_ms, fleet_.end_ms()));
      const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
      if (elapsed >= share * kSeconds && !too_far_ahead()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

 private:
  bool too_far_ahead() const {
    std::array<std::int64_t, kPartitions> folded{};
    for (const auto& partition : service_.status().partitions) {
      folded[static_cast<std::size_t>(partition.partition.value)] = partition.next_offset;
    }
    for (std::size_t i = 0; i < folded.size(); ++i) {
      if (produced_[i] - folded[i] > kMaxAhead) return true;
    }
    return false;
  }

  const Service& service_;
  DemoScreen& screen_;
  const DemoFleetOptions& fleet_;
  std::chrono::steady_clock::time_point begin_;
  std::array<std::int64_t, kPartitions> produced_{};
  std::uint64_t count_ = 0;
};

Result<std::int64_t> send_fleet(const DemoFleetOptions& options, const MockBroker& broker,
                                const Service& service, DemoScreen& screen, DemoOracle& oracle,
                                const std::atomic<bool>& give_up) {
  auto producer = KafkaProducer::create({broker.bootstrap_servers(), {{"linger.ms", "5"}}, nullptr});
  if (!producer) return producer.error();
  DemoFleet fleet(options);
  Pace pace(service, screen, options);
  std::string payload;
  std::int64_t sent = 0;
  while (const auto reading = fleet.next()) {
    if (give_up.load()) return unavailable("the service stopped");
    const std::string key = DemoFleet::device_name(reading->device);
    const PartitionId partition{static_cast<std::int32_t>(reading->device % kPartitions)};
    fleet.write_payload(*reading, payload);
    OutgoingRecord record;
    record.topic = kTopic;
    record.partition = partition;
    record.key = key;
    record.value = payload;
    record.timestamp_ms = reading->arrival_ms;
    if (auto produced = (*producer)->produce(record); !produced) return produced.error();
    oracle.sent(*reading);
    ++sent;
    pace.before_send(*reading, partition.value);
  }
  if (auto flushed = (*producer)->flush(30'000); !flushed) return flushed.error();
  return sent;
}

bool wait_until_folded(const Service& service, DemoScreen& screen, std::int64_t sent, EpochMs end_ms,
                       const std::atomic<bool>& give_up) {
  for (int i = 0; i < 1200 && !give_up.load(); ++i) {
    std::int64_t folded = 0;
    for (const auto& partition : service.status().partitions) folded += partition.next_offset;
    if (folded >= sent) return true;
    screen.show(service, end_ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

int fail(const Error& error) { return command_failed("demo", error); }

struct Stage {
  std::filesystem::path dir;
  std::filesystem::path config_file;
  std::unique_ptr<MockBroker> broker;
  Config config;
};

Result<Stage> set_up(const DemoOptions& options) {
  Stage stage;
  stage.dir = options.dir.empty() ? std::filesystem::temp_directory_path() / "hourfold-demo"
                                  : std::filesystem::path(options.dir);
  std::error_code error;
  // Only what an earlier demo left there.
  for (const char* name : {"state", "rollups", "side"}) std::filesystem::remove_all(stage.dir / name, error);
  std::filesystem::create_directories(stage.dir, error);
  if (error)
    return fatal(stage.dir.string() + " cannot be made: " + error.message() + "; choose another with --dir");
  auto broker = MockBroker::start();
  if (!broker) return broker.error();
  stage.broker = std::move(*broker);
  if (auto made = stage.broker->create_topic(kTopic, kPartitions); !made) return made.error();
  stage.config_file = stage.dir / "demo.json";
  const std::string text = demo_config(*stage.broker, stage.dir);
  if (!(std::ofstream(stage.config_file) << text))
    return fatal(stage.config_file.string() + " cannot be written; choose another --dir");
  auto config = parse_config(text, stage.config_file.string(), options.overrides, SecretLookup{}, true);
  if (!config) return config.error();
  stage.config = std::move(*config);
  return stage;
}

DemoFleetOptions fleet_options(const DemoOptions& options) {
  DemoFleetOptions fleet;
  fleet.devices = options.devices;
  fleet.hours = options.hours;
  fleet.seed = options.seed;
  fleet.begin_ms = HourStart::of(system_clock().now_ms()).ms - options.hours * kHourMs;
  return fleet;
}

}  // namespace

int demo_command(const DemoOptions& options) {
  set_log_level(options.log_level);
  auto stage = set_up(options);
  if (!stage) return fail(stage.error());
  auto parts = assemble(stage->config, system_clock(), log_line());
  if (!parts) return fail(parts.error());
  RollupTable& table = *parts->table;
  Service service(std::move(*parts));
  if (auto started = service.start(); !started) return fail(started.error());

  const DemoFleetOptions fleet = fleet_options(options);
  DemoScreen screen(std::cout, isatty(STDOUT_FILENO) != 0, fleet.begin_ms, fleet.end_ms());
  screen.introduce(options.devices, options.hours, DemoFleet(fleet).expected_readings(), stage->dir.string());
  DemoOracle oracle;
  std::atomic<bool> give_up{false};
  Result<std::int64_t> sent = 0;
  bool folded = false;
  std::thread sender([&] {
    sent = send_fleet(fleet, *stage->broker, service, screen, oracle, give_up);
    if (sent) folded = wait_until_folded(service, screen, *sent, fleet.end_ms(), give_up);
    service.stop();
  });
  const Result<void> ran = service.run();
  give_up.store(true);
  sender.join();
  const bool ended = service.finish(std::chrono::seconds(60));
  screen.end_progress();
  if (!ran) return fail(ran.error());
  if (!sent) return fail(sent.error());
  if (!folded || !ended)
    return fail(fatal(
        "not all readings were folded in time; this machine is too slow for this fleet, try --devices 200"));
  auto verdict = oracle.compare(table, stage->config.sink.buckets, stage->config.sink.layout);
  if (!verdict) return fail(verdict.error());
  screen.summarise(service.totals(), oracle, *verdict, stage->config_file.string());
  return verdict->differ == 0 ? kExitDone : kExitCheckFailed;
}

}  // namespace hourfold
