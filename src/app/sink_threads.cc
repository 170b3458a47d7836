#include "app/sink_threads.h"

#include <chrono>

#include "app/thread_name.h"

namespace hourfold {

struct SinkThreads::Mailbox {
  std::mutex mutex;
  std::vector<PutAnswer> puts;
  std::vector<LookUpAnswer> look_ups;
  std::function<void()> wake;
};

struct SinkThreads::Shared {
  Shared(RollupTable& rollups, OnPut observer) : table(rollups), on_put(std::move(observer)) {}

  struct Job {
    std::weak_ptr<Mailbox> mailbox;
    Ticket ticket;
    std::vector<RowPut> rows;       // a Put, or
    std::vector<std::string> keys;  // a look-up
    std::string contribution;
    std::optional<SharedRowRules> shared;
  };

  void push(Job job) {
    {
      const std::lock_guard lock(mutex);
      jobs.push_back(std::move(job));
      queued.fetch_add(1, std::memory_order_relaxed);
    }
    changed.notify_one();
  }

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return stopping || !jobs.empty(); });
      if (stopping) break;
      const Job job = std::move(jobs.front());
      jobs.pop_front();
      queued.fetch_sub(1, std::memory_order_relaxed);
      lock.unlock();
      if (job.mailbox.lock()) answer(job);
      lock.lock();
    }
    if (--running == 0) changed.notify_all();
  }

  void answer(const Job& job) {
    if (!job.keys.empty()) {
      deliver(job, LookUpAnswer{job.ticket,
                                job.shared ? look_up_shared(table, job.keys, job.contribution, *job.shared)
                                           : table.look_up(job.keys, job.contribution)});
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    Result<void> outcome = job.shared ? put_shared(table, job.rows, *job.shared) : table.put(job.rows);
    on_put(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
           outcome.has_value());
    deliver(job, PutAnswer{job.ticket, std::move(outcome)});
  }

  template <class Answer>
  static void deliver(const Job& job, Answer given) {
    const auto mailbox = job.mailbox.lock();
    if (!mailbox) return;
    const std::lock_guard lock(mailbox->mutex);
    if constexpr (std::is_same_v<Answer, PutAnswer>) {
      mailbox->puts.push_back(std::move(given));
    } else {
      mailbox->look_ups.push_back(std::move(given));
    }
    mailbox->wake();
  }

  RollupTable& table;
  OnPut on_put;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  std::atomic<std::size_t> queued{0};
  unsigned running = 0;
  bool stopping = false;
};

class SinkThreads::Queue : public SinkQueue {
 public:
  Queue(std::shared_ptr<Shared> shared, std::function<void()> wake) : shared_(std::move(shared)) {
    mailbox_->wake = std::move(wake);
  }
  ~Queue() override {
    // A thread that is delivering right now must not wake somebody who is gone.
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->wake = [] {};
  }

  void put(Ticket ticket, std::vector<RowPut> rows, const std::optional<SharedRowRules>& shared) override {
    shared_->push({mailbox_, ticket, std::move(rows), {}, {}, shared});
  }

  void look_up(Ticket ticket, std::vector<std::string> keys, const std::string& contribution,
               const std::optional<SharedRowRules>& shared) override {
    shared_->push({mailbox_, ticket, {}, std::move(keys), contribution, shared});
  }

  void take_answers(std::vector<PutAnswer>& puts, std::vector<LookUpAnswer>& look_ups) override {
    const std::lock_guard lock(mailbox_->mutex);
    puts = std::exchange(mailbox_->puts, {});
    look_ups = std::exchange(mailbox_->look_ups, {});
  }

 private:
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
};

SinkThreads::SinkThreads(RollupTable& table, unsigned threads, OnPut on_put)
    : shared_(std::make_shared<Shared>(table, std::move(on_put))), queued_(shared_->queued) {
  shared_->running = threads;
  for (unsigned i = 0; i < threads; ++i) {
    threads_.emplace_back([shared = shared_, i] {
      name_this_thread("sink-" + std::to_string(i));
      shared->run();
    });
  }
}

SinkThreads::~SinkThreads() { stop(std::chrono::hours(1)); }

std::unique_ptr<SinkQueue> SinkThreads::open(std::function<void()> wake) {
  return std::make_unique<Queue>(shared_, std::move(wake));
}

bool SinkThreads::stop(std::chrono::milliseconds timeout) {
  if (threads_.empty()) return true;
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
  const bool ended = shared_->changed.wait_for(lock, timeout, [&] { return shared_->running == 0; });
  lock.unlock();
  for (std::thread& thread : threads_) {
    if (ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  threads_.clear();
  return ended;
}

}  // namespace hourfold
