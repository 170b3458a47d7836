// Turns ready windows into batches of Puts, and answers into acknowledgements, retries, ever smaller batches
// and, at last, refused rows.
//
// Rows of all healthy salts share batches, which keeps calls large. A batch that fails makes its salts
// suspect: each then goes alone, one batch at a time, with a back-off of its own, so that a stuck region
// holds up its own rows only. When a salt keeps failing its batches are halved down to single rows, whose
// refusal can be trusted.
//
// Threads: the partition's worker. Errors: those of the window store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "core/types.h"
#include "pipeline/backoff.h"
#include "pipeline/counters.h"
#include "pipeline/outbox.h"
#include "pipeline/sink_queue.h"
#include "pipeline/window_table.h"

namespace hourfold {

struct EmitterSettings {
  RowLayout layout = RowLayout::kWide;
  std::uint32_t buckets = 32;
  Generation generation;
  std::string contribution_qualifier;
  std::size_t max_rows = 500;
  std::size_t max_bytes = 1 << 20;
  std::size_t max_in_flight = 2;  // batches of healthy salts, and as many of suspect ones
  std::uint64_t seed = 1;
};

class Emitter {
 public:
  // Called for a row that the table refuses for good, before the outbox forgets it.
  using OnRefused = std::function<void(const OpenWindow&, const Window&, const Error&)>;
  // Called for a whole row that has landed, with the first offset of its Put.
  using OnLanded = std::function<void(OpenWindow&, Offset)>;

  Emitter(EmitterSettings settings, WindowTable& windows, Outbox& outbox, SinkQueue& sink,
          WorkerCounters& counters, OnRefused on_refused, OnLanded on_landed);

  // Sends what is ready, as far as the bounds allow.
  Result<void> step(EpochMs now);
  Result<void> take(const PutAnswer& answer, EpochMs now);

  // From now on rows are contributions to rows of several. What is in flight as a whole row is sent again.
  void share(const SharedRowRules& rules) { shared_ = rules; }

  std::size_t in_flight() const { return batches_.size(); }
  // Of the last batch that failed; empty once no salt is suspect any more.
  const std::string& last_error() const { return last_error_; }

 private:
  struct Lane {  // one salt
    explicit Lane(std::uint64_t seed) : backoff(seed) {}
    bool suspect = false;
    bool in_flight = false;  // only meaningful while suspect
    std::size_t limit = 0;   // rows a batch while suspect
    std::optional<Outbox::Ready::value_type>
        resume_after;  // a row that failed alone; only compared, it may be gone
    Backoff backoff;
  };
  struct Batch {
    std::vector<OpenWindow*> entries;
    std::size_t cells = 0;
    bool shared = false;
    std::int32_t lane = -1;  // the suspect salt that it is of, -1: of healthy ones
  };

  Result<bool> send_healthy();
  Result<bool> send_suspect(std::uint32_t salt);
  RowPut row_of(const OpenWindow& entry, const Window& window) const;
  Result<void> send(Batch batch);
  void healed(Lane& lane);
  void count_failure(ErrorKind kind);
  Result<void> failed(Batch& batch, const Error& error, EpochMs now);
  Result<void> refuse(OpenWindow& entry, const Error& error, EpochMs now);

  EmitterSettings settings_;
  std::optional<SharedRowRules> shared_;
  WindowTable& windows_;
  Outbox& outbox_;
  SinkQueue& sink_;
  WorkerCounters& counters_;
  OnRefused on_refused_;
  OnLanded on_landed_;
  std::vector<Lane> lanes_;
  std::size_t suspects_ = 0;
  std::uint32_t next_suspect_ = 0;
  std::size_t healthy_in_flight_ = 0;  // batches
  Ticket next_ticket_ = 1;
  std::unordered_map<Ticket, Batch> batches_;
  std::string last_error_;
};

}  // namespace hourfold
