// Fills a topic with the readings of a fleet: 8 metrics each, JSON of some 270 bytes, in the order of their
// arrival, a share of them late and a share sent twice. The topic must exist. Deterministic.
//
//   hourfold_fill_topic BROKERS TOPIC READINGS DEVICES HOURS LATE_PERCENT RESENT_PERCENT CODEC
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "fill_topic: %s\n", what.c_str());
  std::exit(1);
}

struct Fleet {
  std::int64_t readings;
  std::int64_t devices;
  std::int64_t hours;
  std::uint64_t late_percent;
  std::uint64_t resent_percent;
};

class Random {
 public:
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  bool percent(std::uint64_t share) { return next() % 100 < share; }

 private:
  std::uint64_t state_ = 88172645463325252ULL;
};

class Filler {
 public:
  Filler(const char* brokers, std::string topic, const char* codec) : topic_(std::move(topic)) {
    char error[512];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    const auto set = [&](const char* name, const char* value) {
      if (rd_kafka_conf_set(conf, name, value, error, sizeof error) != RD_KAFKA_CONF_OK) fail(error);
    };
    set("bootstrap.servers", brokers);
    set("linger.ms", "50");
    set("batch.num.messages", "10000");
    set("batch.size", "1000000");
    set("queue.buffering.max.messages", "1000000");
    set("compression.codec", codec);
    set("partitioner", "murmur2_random");
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    if (!client_) fail(error);
  }

  void send(std::int64_t device, std::int64_t event_ms, std::int64_t arrival_ms, std::int64_t sequence,
            double value) {
    char key[32];
    char body[640];
    const int key_size = std::snprintf(key, sizeof key, "dev-%08lld", static_cast<long long>(device));
    const int size = std::snprintf(
        body, sizeof body,
        R"({"device":"%s","ts":%lld,"seq":%lld,"fw":"4.2.1","metrics":{"temp_c":%.2f,"batt_v":%.3f,"humidity":%.1f,)"
        R"("pressure_hpa":%.2f,"rssi_dbm":%d,"co2_ppm":%d,"lux":%.1f,"vib_mm_s":%.4f},"site":"plant-%02d","tags":["line-%d","zone-%d"],)"
        R"("model":"TX-%d"})",
        key, static_cast<long long>(event_ms), static_cast<long long>(sequence), 18 + value / 10,
        3.0 + value / 100, 40 + value / 5, 1000 + value / 7, -40 - static_cast<int>(value / 3),
        400 + static_cast<int>(value), value * 7.3, value / 977, static_cast<int>(device % 40),
        static_cast<int>(device % 7), static_cast<int>(device % 5), static_cast<int>(100 + device % 3));
    while (rd_kafka_producev(client_, RD_KAFKA_V_TOPIC(topic_.c_str()),
                             RD_KAFKA_V_KEY(key, static_cast<std::size_t>(key_size)),
                             RD_KAFKA_V_VALUE(body, static_cast<std::size_t>(size)),
                             RD_KAFKA_V_TIMESTAMP(arrival_ms), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                             RD_KAFKA_V_END) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      rd_kafka_poll(client_, 50);
    }
    if (++sent_ % 1024 == 0) rd_kafka_poll(client_, 0);
  }

  std::int64_t finish() {
    if (rd_kafka_flush(client_, 120'000) != RD_KAFKA_RESP_ERR_NO_ERROR)
      fail("the broker did not take everything within two minutes");
    rd_kafka_destroy(client_);
    return sent_;
  }

 private:
  std::string topic_;
  rd_kafka_t* client_ = nullptr;
  std::int64_t sent_ = 0;
};

void fill(Filler& filler, const Fleet& fleet) {
  constexpr std::int64_t kHour = 3'600'000;
  const std::int64_t now = std::chrono::duration_cast<std::chrono::milliseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  const std::int64_t begin = now / kHour * kHour - fleet.hours * kHour;
  const std::int64_t rounds = std::max<std::int64_t>(1, fleet.readings / fleet.devices);
  const std::int64_t interval = std::max<std::int64_t>(1, fleet.hours * kHour / rounds);
  Random random;
  for (std::int64_t i = 0; i < fleet.readings; ++i) {
    const std::int64_t device = i % fleet.devices;
    const std::int64_t event = begin + i / fleet.devices * interval + device % interval;
    // A late reading comes now and speaks of up to two hours before; its device misses nothing else.
    const bool late = random.percent(fleet.late_percent);
    const std::int64_t told =
        late ? std::max(begin, event - kHour - static_cast<std::int64_t>(random.next() % kHour)) : event;
    const double value = static_cast<double>(random.next() % 1000) / 10.0;
    filler.send(device, told, event + 500, i / fleet.devices, value);
    if (random.percent(fleet.resent_percent))
      filler.send(device, told, event + 900, i / fleet.devices, value);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9)
    fail("usage: hourfold_fill_topic BROKERS TOPIC READINGS DEVICES HOURS LATE_PERCENT RESENT_PERCENT CODEC");
  const Fleet fleet{std::atoll(argv[3]), std::atoll(argv[4]), std::atoll(argv[5]),
                    std::strtoull(argv[6], nullptr, 10), std::strtoull(argv[7], nullptr, 10)};
  Filler filler(argv[1], argv[2], argv[8]);
  const auto begin = std::chrono::steady_clock::now();
  fill(filler, fleet);
  const std::int64_t sent = filler.finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("{\"records\":%lld,\"seconds\":%.2f}\n", static_cast<long long>(sent), seconds);
}
