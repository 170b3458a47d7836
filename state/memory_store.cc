#include "state/memory_store.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace hourfold {
namespace {

struct Content {
  std::map<WindowKey, std::string> windows;
  std::map<WindowKey, Offset> pending;
  std::map<Position, std::string> waiting;
  std::map<Position, std::string> side;
  std::optional<std::string> marks;
};

void expire(Content& content, HourStart below, const std::vector<WindowKey>& spared) {
  HF_CHECK(std::is_sorted(spared.begin(), spared.end()));
  const auto end = content.windows.lower_bound(WindowKey{below, {}});
  for (auto it = content.windows.begin(); it != end;) {
    const bool stays = std::binary_search(spared.begin(), spared.end(), it->first);
    it = stays ? std::next(it) : content.windows.erase(it);
  }
}

void write_entries(std::map<Position, std::string>& into, const std::vector<StateChanges::Entry>& entries) {
  for (const auto& entry : entries) {
    if (!entry.value) into.erase(entry.position);
  }
  for (const auto& entry : entries) {
    if (entry.value) into[entry.position] = *entry.value;
  }
}

void apply_to(Content& content, const StateChanges& changes) {
  if (changes.expire_below) expire(content, *changes.expire_below, changes.spared);
  for (const auto& window : changes.windows) content.windows[{window.hour, window.device}] = window.value;
  for (const auto& entry : changes.pending) {
    if (!entry.first_unacknowledged) content.pending.erase({entry.hour, entry.device});
  }
  for (const auto& entry : changes.pending) {
    if (entry.first_unacknowledged) content.pending[{entry.hour, entry.device}] = *entry.first_unacknowledged;
  }
  write_entries(content.waiting, changes.waiting);
  write_entries(content.side, changes.side);
  if (changes.marks) content.marks = changes.marks;
}

}  // namespace

class MemoryStores::Snapshot {
 public:
  explicit Snapshot(Content content) : content_(std::move(content)) {}
  const Content& content() const { return content_; }

 private:
  Content content_;
};

struct MemoryStores::Disk {
  Content durable;
  Content live;                        // durable with the unsynced changes
  std::vector<StateChanges> unsynced;  // in order
  bool open = false;
  bool crashed = false;  // its store belongs to a process that is gone
};

class MemoryStores::Store final : public WindowStore {
 public:
  explicit Store(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) { disk_->open = true; }
  ~Store() override {
    sync_disk();
    disk_->open = false;
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Result<std::optional<std::string>> find(HourStart hour, std::string_view device) const override {
    if (disk_->crashed) return gone();
    const auto it = disk_->live.windows.find({hour, std::string(device)});
    if (it == disk_->live.windows.end()) return std::optional<std::string>();
    return std::optional<std::string>(it->second);
  }

  Result<std::optional<std::string>> marks() const override {
    if (disk_->crashed) return gone();
    return disk_->live.marks;
  }

  Result<void> each_pending(const std::function<void(WindowKey, Offset)>& visit) const override {
    return each(disk_->live.pending, visit);
  }
  Result<void> each_waiting(const std::function<void(Position, std::string_view)>& visit) const override {
    return each(disk_->live.waiting, visit);
  }
  Result<void> each_side(const std::function<void(Position, std::string_view)>& visit) const override {
    return each(disk_->live.side, visit);
  }
  Result<void> each_window(
      const std::function<void(HourStart, std::string_view, std::string_view)>& visit) const override {
    return each(disk_->live.windows,
                [&](const WindowKey& key, const std::string& value) { visit(key.hour, key.device, value); });
  }

  Result<std::optional<HourStart>> last_hour() const override {
    if (disk_->crashed) return gone();
    const auto& windows = disk_->live.windows;
    return windows.empty() ? std::optional<HourStart>() : std::optional(windows.rbegin()->first.hour);
  }
  Result<void> windows_from(
      const WindowKey& first,
      const std::function<bool(HourStart, std::string_view, std::string_view)>& visit) const override {
    if (disk_->crashed) return gone();
    const auto& windows = disk_->live.windows;
    for (auto it = windows.lower_bound(first);
         it != windows.end() && visit(it->first.hour, it->first.device, it->second);) {
      ++it;
    }
    return {};
  }

  Result<void> apply(const StateChanges& changes) override {
    if (disk_->crashed) return gone();
    apply_to(disk_->live, changes);
    disk_->unsynced.push_back(changes);
    return {};
  }

  Result<void> start_sync() override { return disk_->crashed ? gone() : Result<void>(); }

  Result<void> sync() override {
    if (disk_->crashed) return gone();
    sync_disk();
    return {};
  }

 private:
  static Error gone() { return fatal("state in memory: the process of this store has crashed"); }

  template <class Map, class Visit>
  Result<void> each(const Map& map, const Visit& visit) const {
    if (disk_->crashed) return gone();
    for (const auto& [key, value] : map) visit(key, value);
    return {};
  }

  void sync_disk() {
    if (disk_->crashed) return;
    for (const StateChanges& changes : disk_->unsynced) apply_to(disk_->durable, changes);
    disk_->unsynced.clear();
  }

  std::shared_ptr<Disk> disk_;
};

MemoryStores::MemoryStores() = default;
MemoryStores::~MemoryStores() = default;

Result<std::unique_ptr<WindowStore>> MemoryStores::open(PartitionId partition, std::string& notice) {
  notice.clear();
  std::shared_ptr<Disk>& disk = disks_[partition];
  if (!disk) disk = std::make_shared<Disk>();
  if (disk->open)
    return unavailable("state in memory of partition " + std::to_string(partition.value) +
                       " is open already");
  return std::unique_ptr<WindowStore>(std::make_unique<Store>(disk));
}

Result<void> MemoryStores::set_aside(PartitionId partition, std::string_view /*why*/) {
  const auto it = disks_.find(partition);
  if (it == disks_.end()) return {};
  if (it->second->open)
    return unavailable("state in memory of partition " + std::to_string(partition.value) + " is open");
  disks_.erase(it);
  return {};
}

std::size_t MemoryStores::unsynced(PartitionId partition) const {
  const auto it = disks_.find(partition);
  return it == disks_.end() ? 0 : it->second->unsynced.size();
}

void MemoryStores::crash(PartitionId partition, std::size_t survivors) {
  const auto it = disks_.find(partition);
  if (it == disks_.end()) return;
  Disk& old = *it->second;
  HF_CHECK(survivors <= old.unsynced.size());
  auto disk = std::make_shared<Disk>();
  disk->durable = std::move(old.durable);
  for (std::size_t i = 0; i < survivors; ++i) apply_to(disk->durable, old.unsynced[i]);
  disk->live = disk->durable;
  old.crashed = true;
  it->second = std::move(disk);
}

std::shared_ptr<const MemoryStores::Snapshot> MemoryStores::durable_copy(PartitionId partition) const {
  const auto it = disks_.find(partition);
  return std::make_shared<Snapshot>(it == disks_.end() ? Content{} : it->second->durable);
}

void MemoryStores::restore(PartitionId partition, const std::shared_ptr<const Snapshot>& snapshot) {
  const auto it = disks_.find(partition);
  HF_CHECK(it == disks_.end() || !it->second->open);
  auto disk = std::make_shared<Disk>();
  disk->durable = snapshot->content();
  disk->live = disk->durable;
  disks_[partition] = std::move(disk);
}

}  // namespace hourfold
