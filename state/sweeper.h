// Compacts what expiry has emptied, so that the disk shrinks and seeks over the gap stay quick: a range
// tombstone alone frees nothing.
//
// (RocksDB's DeleteFilesInRange would be cheaper and wrong here: it acts at once, before the marks of the
// same step are durable, and it takes spared windows with it.) Threads: one of its own for all stores of the
// process; calls may come from any thread. Failures are left to the database: compaction
//          is housekeeping, and errors that matter come back with the next write.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace rocksdb {
class DB;
}

namespace hourfold {

class Sweeper {
 public:
  Sweeper() = default;
  ~Sweeper();
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;

  // Soon, in [begin, end). Joined with what still waits for this database.
  void sweep(rocksdb::DB* db, std::string begin, std::string end);
  // Cancels what runs or waits for this database; nothing of the sweeper's touches it afterwards.
  void forget(rocksdb::DB* db);

 private:
  struct Job {
    rocksdb::DB* db;
    std::string begin;
    std::string end;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  rocksdb::DB* running_ = nullptr;
  std::atomic<bool> canceled_{false};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hourfold
