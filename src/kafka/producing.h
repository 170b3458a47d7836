// The one place where records are handed to librdkafka's producers.
#pragma once

#include "kafka/client.h"
#include "kafka/kafka_producer.h"

namespace hourfold::kafka {

// Both kinds of producer: every record exactly once in the order of a partition, and by whom a key's
// partition is chosen.
Result<Client> build_producer(ClientBuilder& builder, const Properties& more_defaults,
                              const Properties& more_owned = {});

// opaque comes back with the delivery report, which follows if and only if this answers NO_ERROR.
rd_kafka_resp_err_t enqueue(rd_kafka_t* client, const OutgoingRecord& record, void* opaque);

}  // namespace hourfold::kafka
