// Turns librdkafka's messages into RecordBatches, one per partition. Nothing is copied: the batch's `memory`
// owns the messages and, through the client, everything that they point into.
#pragma once

#include <span>
#include <vector>

#include "kafka/client.h"
#include "ports/record_source.h"

namespace hourfold::kafka {

// Used for one poll: add() what it brought, then drop the object.
class MessageGrouping {
 public:
  // messages: all that may be added, so that a batch takes no more memory than it needs.
  MessageGrouping(Client client, std::span<rd_kafka_message_t* const> messages,
                  std::vector<RecordBatch>& out);

  // Takes the message, which has no error.
  void add(rd_kafka_message_t* message);
  // No record is left below the message's offset.
  void ends(const rd_kafka_message_t& message);

 private:
  struct Group {
    std::int32_t partition;
    std::size_t count;                                     // messages of it in this poll
    std::size_t batch = 0;                                 // index in out_
    std::vector<rd_kafka_message_t*>* messages = nullptr;  // owned by the batch's memory; null: no batch yet
  };

  Group& group_of(std::int32_t partition);
  void open(Group& group);

  Client client_;
  std::vector<RecordBatch>& out_;
  std::vector<Group> groups_;
  std::size_t last_ = 0;  // messages come in runs of one partition
};

RecordHeaders copy_headers(const rd_kafka_headers_t* headers);

}  // namespace hourfold::kafka
