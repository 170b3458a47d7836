// A worker's end of the threads that talk to the rollup table: it hands in batches and picks up answers, and
// never blocks.
//
// Invariants: every ticket is answered exactly once, in any order. Answers to tickets of a worker that is
// gone are dropped. Threads:    one object per worker, used by the worker's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/rollup_row.h"
#include "pipeline/shared_row.h"
#include "ports/rollup_table.h"

namespace hourfold {

using Ticket = std::uint64_t;

struct PutAnswer {
  Ticket ticket;
  Result<void> outcome;
};

struct LookUpAnswer {
  Ticket ticket;
  Result<std::vector<RowLookup>> rows;
};

class SinkQueue {
 public:
  virtual ~SinkQueue() = default;
  // shared: the rows are contributions to rows of several, and are merged (put_shared() in shared_row.h).
  virtual void put(Ticket ticket, std::vector<RowPut> rows, const std::optional<SharedRowRules>& shared) = 0;
  // contribution: qualifier in family `s`. shared: as look_up_shared().
  virtual void look_up(Ticket ticket, std::vector<std::string> keys, const std::string& contribution,
                       const std::optional<SharedRowRules>& shared) = 0;
  virtual void take_answers(std::vector<PutAnswer>& puts, std::vector<LookUpAnswer>& look_ups) = 0;
};

}  // namespace hourfold
