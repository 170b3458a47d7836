// The threads that talk to the rollup table, one call each at a time, and the queues by which the workers
// reach them.
//
// Threads:    open() from any; each queue belongs to one worker. Bounded: a worker has only as much on its
// way as its emitter and its
//             waiting room allow.
// Ownership:  a queue that is destroyed drops its answers; calls already running end by themselves.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/sink_queue.h"
#include "ports/rollup_table.h"

namespace hourfold {

class SinkThreads {
 public:
  // Told how long each Put took, in seconds, and whether it landed. Called from the threads.
  using OnPut = std::function<void(double seconds, bool landed)>;

  SinkThreads(RollupTable& table, unsigned threads, OnPut on_put);
  ~SinkThreads();

  // wake is called, from the threads, when an answer is there.
  std::unique_ptr<SinkQueue> open(std::function<void()> wake);

  // Drops what has not begun and waits for what has. False: a call was still running at the deadline, and its
  // thread is left behind.
  bool stop(std::chrono::milliseconds timeout);

  std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }

 private:
  struct Mailbox;
  struct Shared;
  class Queue;

  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t>& queued_;
};

}  // namespace hourfold
