#include "state/sweeper.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <utility>

namespace hourfold {

Sweeper::~Sweeper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    canceled_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Sweeper::sweep(rocksdb::DB* db, std::string begin, std::string end) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  const auto waiting =
      std::find_if(jobs_.begin(), jobs_.end(), [db](const Job& job) { return job.db == db; });
  if (waiting == jobs_.end()) {
    jobs_.push_back({db, std::move(begin), std::move(end)});
  } else {
    waiting->begin = std::min(waiting->begin, begin);
    waiting->end = std::max(waiting->end, end);
  }
  changed_.notify_all();
}

void Sweeper::forget(rocksdb::DB* db) {
  std::unique_lock lock(mutex_);
  std::erase_if(jobs_, [db](const Job& job) { return job.db == db; });
  if (running_ != db) return;
  canceled_ = true;
  changed_.wait(lock, [&] { return running_ != db; });
}

void Sweeper::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    running_ = job.db;
    canceled_ = false;
    lock.unlock();

    const rocksdb::Slice begin(job.begin);
    const rocksdb::Slice end(job.end);
    rocksdb::CompactRangeOptions options;
    options.exclusive_manual_compaction = false;
    options.canceled = &canceled_;
    job.db->CompactRange(options, &begin, &end).PermitUncheckedError();

    lock.lock();
    running_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace hourfold
