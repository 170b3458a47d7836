// The ceiling: librdkafka alone reads the whole topic and throws it away.
//
//   hourfold_bare_consumer BROKERS TOPIC PARTITIONS
#include <librdkafka/rdkafka.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bare_consumer: %s\n", what.c_str());
  std::exit(1);
}

rd_kafka_t* make_consumer(const char* brokers) {
  char error[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  const auto set = [&](const char* name, const char* value) {
    if (rd_kafka_conf_set(conf, name, value, error, sizeof error) != RD_KAFKA_CONF_OK) fail(error);
  };
  set("bootstrap.servers", brokers);
  set("group.id", "bare");
  set("enable.auto.commit", "false");
  set("enable.partition.eof", "true");
  // Without these librdkafka 2.0 sleeps up to a second whenever its small default queue is full.
  set("queued.min.messages", "1000000");
  set("fetch.message.max.bytes", "4000000");
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  if (!client) fail(error);
  rd_kafka_poll_set_consumer(client);
  return client;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: hourfold_bare_consumer BROKERS TOPIC PARTITIONS");
  const int partitions = std::atoi(argv[3]);
  rd_kafka_t* client = make_consumer(argv[1]);
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(partitions);
  for (int i = 0; i < partitions; ++i) rd_kafka_topic_partition_list_add(list, argv[2], i)->offset = 0;
  rd_kafka_assign(client, list);
  rd_kafka_queue_t* queue = rd_kafka_queue_get_consumer(client);
  constexpr std::size_t kBatch = 10'000;
  static rd_kafka_message_t* messages[kBatch];
  long long records = 0;
  auto begin = std::chrono::steady_clock::now();
  for (int ended = 0; ended < partitions;) {
    const auto count = rd_kafka_consume_batch_queue(queue, 100, messages, kBatch);
    for (long i = 0; i < count; ++i) {
      if (messages[i]->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        ++ended;
      } else if (messages[i]->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (records++ == 0) begin = std::chrono::steady_clock::now();
      } else {
        fail(rd_kafka_message_errstr(messages[i]));
      }
      rd_kafka_message_destroy(messages[i]);
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("{\"records\":%lld,\"seconds\":%.3f,\"cpu_seconds\":%.2f}\n", records, seconds, cpu_seconds());
  std::fflush(stdout);
  std::_Exit(0);
}
