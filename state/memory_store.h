// WindowStores in memory, for tests and simulations: the contract of the RocksDB ones, and crashes that the
// test decides.
//
// What was applied after the last sync() may survive a crash or not, but only as a prefix: crash() takes the
// length of it. Closing a store (destroying it) keeps everything, as a clean end of the RocksDB store does.
// Threads: none of its own; the stores of one MemoryStores are used by one thread at a time. A visitor must
// not change the store.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "state/window_store.h"

namespace hourfold {

class MemoryStores final : public WindowStores {
 public:
  MemoryStores();
  ~MemoryStores() override;

  // Unavailable while another store of the partition is open.
  Result<std::unique_ptr<WindowStore>> open(PartitionId partition, std::string& notice) override;
  Result<void> set_aside(PartitionId partition, std::string_view why) override;

  // Number of changes applied since the last sync(), by a store that is open.
  std::size_t unsynced(PartitionId partition) const;
  // The process that had the partition is gone: its store answers Fatal to everything from now on, and the
  // first `survivors` of the unsynced changes are what the next open() finds beyond the last sync(). At most
  // unsynced().
  void crash(PartitionId partition, std::size_t survivors);
  // A copy of what a crash without survivors would leave, to put back later: an old disk that comes back.
  class Snapshot;
  std::shared_ptr<const Snapshot> durable_copy(PartitionId partition) const;
  void restore(PartitionId partition, const std::shared_ptr<const Snapshot>& snapshot);

 private:
  struct Disk;
  class Store;
  std::map<PartitionId, std::shared_ptr<Disk>> disks_;
};

}  // namespace hourfold
