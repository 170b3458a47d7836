// What every Kafka client of the product is made from: brokers, the operator's librdkafka properties and
// where its log lines go.
//
// Properties on which the promises rest (the group and its offsets, what happens at a lost offset, the
// guarantees of the side topics) belong to the product and are refused; every other librdkafka property is
// passed through, TLS and SASL among them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hourfold {

// severity as in syslog(3): 3 error, 4 warning, 6 information, 7 debug. Called from librdkafka's own threads.
using KafkaLog = std::function<void(int severity, std::string_view text)>;

struct KafkaClientOptions {
  std::string brokers;                            // host:port,...
  std::map<std::string, std::string> properties;  // librdkafka's names
  KafkaLog log;                                   // null: its log lines are dropped
};

// Fatal: a property that librdkafka does not know or cannot read (in its words), or one that the product
// owns.
Result<void> check_kafka_properties(const std::map<std::string, std::string>& properties);

}  // namespace hourfold
