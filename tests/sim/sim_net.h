// The way between workers and the table: requests that wait, land in part, land late or never, and answers
// that get lost.
//
// A request outlives the worker that sent it, as a Thrift server goes on retrying for a client that is gone.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/sink_queue.h"
#include "sim/sim_table.h"
#include "support/random.h"

namespace hourfold::test {

class SimNet;

// One worker's end.
class SimSinkQueue final : public SinkQueue {
 public:
  SimSinkQueue(SimNet& net, int worker);
  ~SimSinkQueue() override;
  SimSinkQueue(const SimSinkQueue&) = delete;
  SimSinkQueue& operator=(const SimSinkQueue&) = delete;

  void put(Ticket ticket, std::vector<RowPut> rows, const std::optional<SharedRowRules>& shared) override;
  void look_up(Ticket ticket, std::vector<std::string> keys, const std::string& contribution,
               const std::optional<SharedRowRules>& shared) override;
  void take_answers(std::vector<PutAnswer>& puts, std::vector<LookUpAnswer>& look_ups) override {
    for (PutAnswer& answer : puts_) puts.push_back(std::move(answer));
    for (LookUpAnswer& answer : look_ups_) look_ups.push_back(std::move(answer));
    puts_.clear();
    look_ups_.clear();
  }

 private:
  friend class SimNet;
  SimNet& net_;
  int worker_;
  std::vector<PutAnswer> puts_;
  std::vector<LookUpAnswer> look_ups_;
};

class SimNet {
 public:
  SimNet(Random& random, SimTable& table, SimFindings& findings)
      : random_(random), table_(table), findings_(findings) {}

  // Rows of these keys are refused for good. What is in them is not checked: only their dead letters have it,
  // and whoever takes over without the disk begins them anew.
  std::set<std::string> poison;
  bool down = false;
  double trouble = 1;

  bool empty() const { return messages_.empty(); }
  // Whatever may happen to one request, at random.
  void mishap();
  // Lands and answers everything, for when the faults have stopped.
  void settle();

 private:
  friend class SimSinkQueue;
  struct Message {
    int worker = 0;
    Ticket ticket = 0;
    bool is_put = false;
    std::vector<RowPut> rows;
    std::vector<std::string> keys;
    std::string contribution;
    std::optional<SharedRowRules> shared;
    // Of a Put to shared rows: the contributions, then a read, then the merges of what was read. `rows` is
    // what is to land next.
    enum class Stage { kContributions, kRead, kMerges } stage = Stage::kContributions;
    bool ends_with_stage = false;  // its process is gone
    std::vector<RowLookup> read;
    std::optional<Error> failed;
    bool landed = false;
    bool partly = false;
    bool answered = false;
  };
  using Messages = std::list<Message>;

  Messages::iterator any();
  bool is_refused(const Message& message) const;
  // False if nothing is left of the request.
  bool land(Messages::iterator at);
  void land_shared(Message& message);
  void look_up(Message& message);
  void answer_landed(Messages::iterator at, bool keep_a_ghost);
  void answer(Message& message, const Result<void>& outcome);
  void lose_answer(Messages::iterator at);
  void add(Message message);
  void check_bounds(const Message& fresh);

  Random& random_;
  SimTable& table_;
  SimFindings& findings_;
  Messages messages_;
  std::map<int, SimSinkQueue*> queues_;
};

inline SimSinkQueue::SimSinkQueue(SimNet& net, int worker) : net_(net), worker_(worker) {
  net_.queues_[worker] = this;
}

inline SimSinkQueue::~SimSinkQueue() {
  net_.queues_.erase(worker_);
  for (SimNet::Message& message : net_.messages_) {
    if (message.worker != worker_) continue;
    message.answered = true;
    // Of a call that its process has begun it may come to the end, or not.
    message.ends_with_stage = net_.random_.chance(.5);
  }
}

inline void SimSinkQueue::put(Ticket ticket, std::vector<RowPut> rows,
                              const std::optional<SharedRowRules>& shared) {
  SimNet::Message message;
  message.worker = worker_;
  message.ticket = ticket;
  message.is_put = true;
  message.shared = shared;
  message.rows = std::move(rows);
  net_.add(std::move(message));
}

inline void SimSinkQueue::look_up(Ticket ticket, std::vector<std::string> keys,
                                  const std::string& contribution,
                                  const std::optional<SharedRowRules>& shared) {
  SimNet::Message message;
  message.worker = worker_;
  message.ticket = ticket;
  message.keys = std::move(keys);
  message.contribution = contribution;
  message.shared = shared;
  net_.add(std::move(message));
}

inline void SimNet::add(Message message) {
  check_bounds(message);
  messages_.push_back(std::move(message));
}

inline void SimNet::check_bounds(const Message& fresh) {
  std::size_t same_kind = 1;
  std::set<std::string> rows;
  for (const Message& other : messages_) {
    if (other.answered || other.worker != fresh.worker || other.is_put != fresh.is_put) continue;
    ++same_kind;
    for (const RowPut& row : other.rows) rows.insert(row.key());
  }
  if (same_kind > (fresh.is_put ? 4U : 2U)) findings_.add("bound", "too many requests in flight");
  for (const RowPut& row : fresh.rows) {
    if (!rows.insert(row.key()).second) findings_.add("twice", "two Puts of a window in flight");
  }
}

inline SimNet::Messages::iterator SimNet::any() {
  if (messages_.empty()) return messages_.end();
  return std::next(messages_.begin(), static_cast<std::ptrdiff_t>(random_.below(messages_.size())));
}

inline bool SimNet::is_refused(const Message& message) const {
  for (const RowPut& row : message.rows) {
    if (poison.contains(row.key())) return true;
  }
  return false;
}

inline void SimNet::look_up(Message& message) {
  for (const std::string& key : message.keys) {
    if (!message.shared) {
      message.read.push_back(table_.look_up(key, message.contribution));
      continue;
    }
    const StoredRow row = table_.read(key);
    const auto shared = SharedRow::of(row, split_row_key(key)->hour, *message.shared);
    if (!shared) {
      message.failed = shared.error();
      return;
    }
    message.read.push_back(look_up_in(row, *shared, message.contribution));
  }
}

inline void SimNet::land_shared(Message& message) {
  using Stage = Message::Stage;
  if (message.stage == Stage::kRead) {
    std::vector<StoredRow> read;
    for (const RowPut& row : message.rows) read.push_back(table_.read(row.key()));
    auto merges = merges_of(read, *message.shared);
    if (!merges) message.failed = merges.error();
    message.rows = merges ? std::move(*merges) : std::vector<RowPut>();
    message.stage = Stage::kMerges;
    message.landed = !merges;
    return;
  }
  for (const RowPut& row : message.rows) table_.apply(row);
  message.landed = message.stage == Stage::kMerges || message.ends_with_stage;
  message.stage = Stage::kRead;
  message.partly = true;
}

inline bool SimNet::land(Messages::iterator at) {
  if (down || at->landed) return true;
  if (!at->is_put) {
    at->landed = true;
    look_up(*at);
    return true;
  }
  if (is_refused(*at)) {
    at->landed = true;
    return true;
  }
  if (at->shared) {
    land_shared(*at);
  } else {
    at->landed = true;
    for (const RowPut& row : at->rows) table_.apply(row);
  }
  if (!at->landed || !at->answered) return true;
  messages_.erase(at);
  return false;
}

inline void SimNet::answer_landed(Messages::iterator at, bool keep_a_ghost) {
  Result<void> outcome;
  if (at->is_put && is_refused(*at)) outcome = refused("poison");
  if (at->failed) outcome = *at->failed;
  answer(*at, outcome);
  if (keep_a_ghost && at->is_put) {
    at->landed = false;  // a retry of the server's, on its way still
    at->shared.reset();
  } else {
    messages_.erase(at);
  }
}

inline void SimNet::answer(Message& message, const Result<void>& outcome) {
  const auto queue = queues_.find(message.worker);
  if (!message.answered && queue != queues_.end()) {
    if (message.is_put) {
      const PutAnswer put{message.ticket, outcome};
      queue->second->puts_.push_back(put);
    } else {
      using Rows = Result<std::vector<RowLookup>>;
      const auto rows =
          outcome ? std::make_unique<Rows>(std::move(message.read)) : std::make_unique<Rows>(outcome.error());
      queue->second->look_ups_.push_back({message.ticket, *rows});
    }
  }
  message.answered = true;
}

// The client gives up; what has not landed may do so later.
inline void SimNet::lose_answer(Messages::iterator at) {
  answer(*at, unknown("the connection was cut"));
  if (at->landed || !at->is_put) messages_.erase(at);
}

inline void SimNet::mishap() {
  const auto at = any();
  if (at == messages_.end()) return;
  if (!random_.chance(trouble)) {
    if (!down && land(at) && at->landed) answer_landed(at, false);
    return;
  }
  switch (random_.below(8)) {
    case 0:
    case 1:
    case 2:
      land(at);
      return;
    case 3:
    case 4:
      if (at->landed) answer_landed(at, random_.chance(.2));
      return;
    case 5:
      lose_answer(at);
      return;
    case 6:
      if (at->answered && !at->landed) {
        messages_.erase(at);  // it never lands
      } else if (!at->landed && !at->partly) {
        answer(*at, unavailable("no connection"));
        messages_.erase(at);
      }
      return;
    default:
      if (down || !at->is_put || at->landed || is_refused(*at)) return;
      at->partly = true;
      for (const RowPut& row : at->rows) {
        if (random_.chance(.5)) table_.apply(row);
      }
  }
}

inline void SimNet::settle() {
  down = false;
  while (!messages_.empty()) {
    const auto at = any();
    if (land(at) && at->landed) answer_landed(at, false);
  }
}

}  // namespace hourfold::test
