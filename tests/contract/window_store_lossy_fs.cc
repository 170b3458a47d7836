#include "tests/contract/window_store_lossy_fs.h"

#include <rocksdb/system_clock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace hourfold::test {
namespace {

namespace fs = std::filesystem;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

std::string directory_of(const std::string& name) {
  return fs::path(name).parent_path().lexically_normal().string();
}

class HastyClock : public rocksdb::SystemClockWrapper {
 public:
  HastyClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "HastyClock"; }
  void SleepForMicroseconds(int micros) override {
    SystemClockWrapper::SleepForMicroseconds(std::min(micros, 1000));
  }
};

class LossyEnv : public rocksdb::EnvWrapper {
 public:
  explicit LossyEnv(std::unique_ptr<rocksdb::Env> files) : EnvWrapper(files.get()), files_(std::move(files)) {
    system_clock_ = std::make_shared<HastyClock>();
  }

 private:
  std::unique_ptr<rocksdb::Env> files_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> make_lossy_env(const std::shared_ptr<LossyFileSystem>& file_system) {
  return std::make_unique<LossyEnv>(rocksdb::NewCompositeEnv(file_system));
}

class LossyFileSystem::File : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(LossyFileSystem& owner, std::string name, std::uint64_t size,
       std::unique_ptr<rocksdb::FSWritableFile>&& file)
      : FSWritableFileOwnerWrapper(std::move(file)), owner_(owner), name_(std::move(name)), size_(size) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (auto status = owner_.step(); !status.ok()) return status;
    size_ += data.size();
    return FSWritableFileOwnerWrapper::Append(data, options, debug);
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*info*/, IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    if (owner_.is_dead()) return IOStatus::IOError("dead");
    return FSWritableFileOwnerWrapper::Truncate(size, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return synced([&] { return FSWritableFileOwnerWrapper::Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return synced([&] { return FSWritableFileOwnerWrapper::Fsync(options, debug); });
  }

 private:
  template <class Call>
  IOStatus synced(const Call& call) {
    if (auto status = owner_.step(); !status.ok()) return status;
    const IOStatus status = call();
    if (status.ok()) owner_.note_synced(name_, size_);
    return status;
  }

  LossyFileSystem& owner_;
  std::string name_;
  std::uint64_t size_;
};

class LossyFileSystem::Directory : public rocksdb::FSDirectory {
 public:
  Directory(LossyFileSystem& owner, std::string name, std::unique_ptr<rocksdb::FSDirectory>&& directory)
      : owner_(owner), name_(std::move(name)), directory_(std::move(directory)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return synced([&] { return directory_->Fsync(options, debug); });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& directory) override {
    return synced([&] { return directory_->FsyncWithDirOptions(options, debug, directory); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return directory_->Close(options, debug);
  }
  std::size_t GetUniqueId(char* id, std::size_t size) const override {
    return directory_->GetUniqueId(id, size);
  }

 private:
  template <class Call>
  IOStatus synced(const Call& call) {
    if (auto status = owner_.step(); !status.ok()) return status;
    const IOStatus status = call();
    if (status.ok()) owner_.note_directory_synced(name_);
    return status;
  }

  LossyFileSystem& owner_;
  std::string name_;
  std::unique_ptr<rocksdb::FSDirectory> directory_;
};

LossyFileSystem::LossyFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

void LossyFileSystem::die_at(std::uint64_t n) {
  const std::lock_guard lock(mutex_);
  operations_ = 0;
  dies_at_ = n;
}

bool LossyFileSystem::is_dead() const {
  const std::lock_guard lock(mutex_);
  return dead_;
}

std::uint64_t LossyFileSystem::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

IOStatus LossyFileSystem::step() {
  const std::lock_guard lock(mutex_);
  if (++operations_ >= dies_at_) dead_ = true;
  return dead_ ? IOStatus::IOError("the power is gone") : IOStatus::OK();
}

void LossyFileSystem::note_synced(const std::string& name, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  synced_size_[name] = size;
}

void LossyFileSystem::note_directory_synced(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const std::string directory = fs::path(name).lexically_normal().string();
  std::erase_if(created_, [&](const auto& file) { return directory_of(file.first) == directory; });
  std::erase_if(renamed_, [&](const Renamed& renamed) { return directory_of(renamed.to) == directory; });
}

void LossyFileSystem::lose_unsynced() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, size] : synced_size_) {
    std::error_code missing;
    if (fs::file_size(name, missing) > size && !missing) fs::resize_file(name, size);
  }
  for (auto it = renamed_.rbegin(); it != renamed_.rend(); ++it) {
    std::error_code missing;
    fs::rename(it->to, it->from, missing);
    if (it->old_content) std::ofstream(it->to, std::ios::binary) << *it->old_content;
  }
  for (const auto& [name, unused] : created_) fs::remove(name);
  synced_size_.clear();
  renamed_.clear();
  created_.clear();
  operations_ = 0;
  dies_at_ = UINT64_MAX;
  dead_ = false;
}

IOStatus LossyFileSystem::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* file,
                                          IODebugContext* debug) {
  if (auto status = step(); !status.ok()) return status;
  std::unique_ptr<rocksdb::FSWritableFile> real;
  const IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &real, debug);
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  synced_size_[name] = 0;
  created_[name] = true;
  *file = std::make_unique<File>(*this, name, 0, std::move(real));
  return status;
}

IOStatus LossyFileSystem::ReopenWritableFile(const std::string& /*name*/,
                                             const rocksdb::FileOptions& /*options*/,
                                             std::unique_ptr<rocksdb::FSWritableFile>* /*file*/,
                                             IODebugContext* /*debug*/) {
  return IOStatus::NotSupported("RocksDB appends to no old file under our options");
}

IOStatus LossyFileSystem::ReuseWritableFile(const std::string& /*name*/, const std::string& /*old_name*/,
                                            const rocksdb::FileOptions& /*options*/,
                                            std::unique_ptr<rocksdb::FSWritableFile>* /*file*/,
                                            IODebugContext* /*debug*/) {
  return IOStatus::NotSupported("RocksDB reuses no old file under our options");
}

IOStatus LossyFileSystem::NewDirectory(const std::string& name, const IOOptions& options,
                                       std::unique_ptr<rocksdb::FSDirectory>* directory,
                                       IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSDirectory> real;
  const IOStatus status = FileSystemWrapper::NewDirectory(name, options, &real, debug);
  if (status.ok()) *directory = std::make_unique<Directory>(*this, name, std::move(real));
  return status;
}

IOStatus LossyFileSystem::RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                                     IODebugContext* debug) {
  if (auto status = step(); !status.ok()) return status;
  Renamed renamed{from, to, {}};
  if (std::ifstream old(to, std::ios::binary); old) {
    renamed.old_content = std::string(std::istreambuf_iterator<char>(old), {});
  }
  const IOStatus status = FileSystemWrapper::RenameFile(from, to, options, debug);
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  if (const auto size = synced_size_.extract(from)) synced_size_[to] = size.mapped();
  renamed_.push_back(std::move(renamed));
  return status;
}

IOStatus LossyFileSystem::DeleteFile(const std::string& name, const IOOptions& options,
                                     IODebugContext* debug) {
  if (auto status = step(); !status.ok()) return status;
  {
    const std::lock_guard lock(mutex_);
    synced_size_.erase(name);
    created_.erase(name);
    std::erase_if(renamed_, [&](const Renamed& renamed) { return renamed.to == name; });
  }
  return FileSystemWrapper::DeleteFile(name, options, debug);
}

}  // namespace hourfold::test
