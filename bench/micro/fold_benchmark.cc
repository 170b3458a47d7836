// From the bytes of a record to its window: the fold path of a worker, duplicate detection on.
#include <benchmark/benchmark.h>

#include "bench/support.h"
#include "payload/payload_parser.h"

namespace hourfold::bench {
namespace {

constexpr std::size_t kBatch = 1024;

void parse(benchmark::State& state, const ReadingShape& shape, const std::vector<std::string>& values) {
  const auto parser = make_payload_parser(shape);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parser->parse({values[i], "dev-00000001", kBegin}).readings.data());
    i = i + 1 == values.size() ? 0 : i + 1;
  }
  state.SetItemsProcessed(state.iterations());
}

std::vector<std::string> canonical_values() {
  std::vector<std::string> values;
  for (std::int64_t device = 0; device < 4096; ++device)
    values.push_back(reading(device, kBegin + device, device));
  return values;
}

void parse_canonical(benchmark::State& state) { parse(state, {}, canonical_values()); }
BENCHMARK(parse_canonical);

// As if no reading were like the one before: the way that simdjson takes.
void parse_unlike(benchmark::State& state) {
  std::vector<std::string> values = canonical_values();
  for (std::size_t i = 0; i < values.size(); ++i) values[i].insert(1, "\"x" + std::to_string(i) + "\":1,");
  parse(state, {}, values);
}
BENCHMARK(parse_unlike);

void parse_flat(benchmark::State& state) {
  ReadingShape shape;
  shape.metrics = "";
  shape.selection.deny = {"seq"};
  std::vector<std::string> values;
  for (int i = 0; i < 4096; ++i) {
    values.push_back(R"({"device":"dev-)" + std::to_string(i) + R"(","ts":)" + std::to_string(kBegin + i) +
                     R"(,"seq":1,"temp_c":21.5,"batt_v":3.71,"humidity":40.1,"lux":)" + std::to_string(i) +
                     "}");
  }
  parse(state, shape, values);
}
BENCHMARK(parse_flat);

void parse_influx(benchmark::State& state) {
  ReadingShape shape;
  shape.format = PayloadFormat::kInflux;
  shape.device = {"tag:device"};
  shape.time_unit = TimeUnit::kNs;
  std::vector<std::string> values;
  for (int i = 0; i < 4096; ++i) {
    values.push_back("weather,device=dev-" + std::to_string(i) +
                     " temp=21.5,batt=3.71,hum=40i,lux=" + std::to_string(i) + " 1767225600000000000");
  }
  parse(state, shape, values);
}
BENCHMARK(parse_influx);

// Records a second of one worker; the argument is the number of devices.
void fold(benchmark::State& state) {
  World world(state.range(0));
  // Every window is open before it counts.
  for (std::int64_t sent = 0; sent < 2 * state.range(0); sent += static_cast<std::int64_t>(kBatch))
    world.fold(world.next(kBatch));
  for (auto _ : state) {
    state.PauseTiming();
    const RecordBatch batch = world.next(kBatch);
    state.ResumeTiming();
    world.fold(batch);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(fold)->Arg(1'000)->Arg(100'000)->Arg(400'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hourfold::bench

BENCHMARK_MAIN();
