#include "kafka/producing.h"

#include <vector>

namespace hourfold::kafka {
namespace {

using HeadersHandle = std::unique_ptr<rd_kafka_headers_t, Destroy<rd_kafka_headers_destroy>>;

HeadersHandle make_headers(const RecordHeaders& headers) {
  HeadersHandle made(rd_kafka_headers_new(headers.size()));
  for (const auto& [name, value] : headers)
    rd_kafka_header_add(made.get(), name.data(), static_cast<ssize_t>(name.size()),
                        value ? value->data() : nullptr, value ? static_cast<ssize_t>(value->size()) : 0);
  return made;
}

rd_kafka_vu_t vu(rd_kafka_vtype_t type) {
  rd_kafka_vu_t entry{};
  entry.vtype = type;
  return entry;
}

rd_kafka_vu_t vu(rd_kafka_vtype_t type, std::optional<std::string_view> bytes) {
  auto entry = vu(type);
  // An empty value is not a null one: it needs an address.
  entry.u.mem.ptr = bytes ? const_cast<char*>(bytes->data() == nullptr ? "" : bytes->data()) : nullptr;
  entry.u.mem.size = bytes ? bytes->size() : 0;
  return entry;
}

}  // namespace

Result<Client> build_producer(ClientBuilder& builder, const Properties& more_defaults,
                              const Properties& more_owned) {
  Properties defaults = {{"client.id", "hourfold"},
                         {"compression.codec", "lz4"},
                         {"partitioner", "murmur2_random"},
                         {"linger.ms", "5"}};
  defaults.insert(defaults.end(), more_defaults.begin(), more_defaults.end());
  Properties owned = {{"enable.idempotence", "true"}, {"acks", "all"}, {"allow.auto.create.topics", "false"}};
  owned.insert(owned.end(), more_owned.begin(), more_owned.end());
  return builder.build(defaults, owned);
}

rd_kafka_resp_err_t enqueue(rd_kafka_t* client, const OutgoingRecord& record, void* opaque) {
  const std::string topic(record.topic);
  std::vector<rd_kafka_vu_t> parts;
  parts.push_back(vu(RD_KAFKA_VTYPE_TOPIC));
  parts.back().u.cstr = topic.c_str();
  parts.push_back(vu(RD_KAFKA_VTYPE_PARTITION));
  parts.back().u.i32 = record.partition ? record.partition->value : RD_KAFKA_PARTITION_UA;
  parts.push_back(vu(RD_KAFKA_VTYPE_MSGFLAGS));
  parts.back().u.i = RD_KAFKA_MSG_F_COPY;
  parts.push_back(vu(RD_KAFKA_VTYPE_OPAQUE));
  parts.back().u.ptr = opaque;
  parts.push_back(vu(RD_KAFKA_VTYPE_KEY, record.key));
  parts.push_back(vu(RD_KAFKA_VTYPE_VALUE, record.value));
  if (record.timestamp_ms >= 0) {
    parts.push_back(vu(RD_KAFKA_VTYPE_TIMESTAMP));
    parts.back().u.i64 = record.timestamp_ms;
  }
  HeadersHandle headers;
  if (record.headers != nullptr && !record.headers->empty()) {
    headers = make_headers(*record.headers);
    parts.push_back(vu(RD_KAFKA_VTYPE_HEADERS));
    parts.back().u.headers = headers.get();
  }
  const KafkaError failed(rd_kafka_produceva(client, parts.data(), parts.size()));
  if (failed != nullptr) return rd_kafka_error_code(failed.get());
  static_cast<void>(headers.release());  // the message's now
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace hourfold::kafka
