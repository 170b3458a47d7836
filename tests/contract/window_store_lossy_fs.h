// A file system that dies at a chosen operation and then has lost what was not synced, as power loss does:
//
//   what was appended to a file after its last sync is gone;
//   a file created, or a name changed, since its directory was last synced is undone: the new file is gone,
//   the old content is back.
//
// (Deletions stay done. A file that comes back after a crash is one that RocksDB deletes again.)
// It lies over the real one; what was synced is real files, so a database can be reopened over the operating
// system's. Threads: any, as RocksDB's background threads write too.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hourfold::test {

class LossyFileSystem : public rocksdb::FileSystemWrapper {
 public:
  LossyFileSystem();
  const char* Name() const override { return "LossyFileSystem"; }

  // From now on the n-th operation that changes the disk, and all after it, fail.
  void die_at(std::uint64_t n);
  bool is_dead() const;
  std::uint64_t operations() const;
  // After everything has been closed: makes the real files what a crash leaves, and comes back to life.
  void lose_unsynced();

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& name, const std::string& old_name,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

 private:
  class File;
  class Directory;
  struct Renamed {
    std::string from;
    std::string to;
    std::optional<std::string> old_content;  // of `to`, if it was there
  };

  // Counts one operation; an error once the file system is dead.
  rocksdb::IOStatus step();
  void note_synced(const std::string& name, std::uint64_t size);
  void note_directory_synced(const std::string& name);

  mutable std::mutex mutex_;
  std::uint64_t operations_ = 0;
  std::uint64_t dies_at_ = UINT64_MAX;
  bool dead_ = false;
  std::map<std::string, std::uint64_t> synced_size_;  // of every file written through us
  std::map<std::string, bool> created_;               // not yet durable as a name
  std::vector<Renamed> renamed_;                      // not yet durable, in order
};

// An Env over it whose sleeps are short: RocksDB waits a second before it tries a failed flush again.
std::unique_ptr<rocksdb::Env> make_lossy_env(const std::shared_ptr<LossyFileSystem>& file_system);

}  // namespace hourfold::test
