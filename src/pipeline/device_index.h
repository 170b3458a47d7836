// Open-addressing hash table of the devices that have windows in memory. A probe compares stored hashes
// before it touches an entry.
//
// Ownership: owns the entries; their addresses are stable. Threads: the partition's worker.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/prefetch.h"
#include "pipeline/window_table.h"

namespace hourfold {

class DeviceIndex {
 public:
  DeviceIndex() : slots_(kInitialSlots) {}

  DeviceEntry* find(std::string_view device, std::uint64_t hash) const {
    for (std::size_t at = hash & mask(); slots_[at].entry; at = (at + 1) & mask()) {
      if (slots_[at].hash == hash && slots_[at].entry->id == device) return slots_[at].entry.get();
    }
    return nullptr;
  }

  // Asks for where find() begins; peek() then says which entry it will most likely come to, or null.
  void prefetch(std::uint64_t hash) const { hourfold::prefetch(&slots_[hash & mask()]); }
  const DeviceEntry* peek(std::uint64_t hash) const {
    const Slot& slot = slots_[hash & mask()];
    return slot.hash == hash ? slot.entry.get() : nullptr;
  }

  DeviceEntry& insert(std::unique_ptr<DeviceEntry> entry) {
    if ((size_ + 1) * 4 > slots_.size() * 3) rehash(slots_.size() * 2);
    ++size_;
    return place(std::move(entry));
  }

  // visit(DeviceEntry&) returns true to keep the entry.
  template <class Visit>
  void retain(const Visit& visit) {
    bool dropped = false;
    for (Slot& slot : slots_) {
      if (!slot.entry || visit(*slot.entry)) continue;
      slot.entry.reset();
      --size_;
      dropped = true;
    }
    // Probing stops at an empty slot, so the others must move up; mass removal is the usual case, hence all
    // at once.
    if (dropped)
      rehash(slots_.size() > kInitialSlots && size_ * 4 < slots_.size() ? slots_.size() / 2 : slots_.size());
  }

  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kInitialSlots = 1024;
  struct Slot {
    std::uint64_t hash = 0;
    std::unique_ptr<DeviceEntry> entry;
  };

  std::size_t mask() const { return slots_.size() - 1; }

  DeviceEntry& place(std::unique_ptr<DeviceEntry> entry) {
    std::size_t at = entry->hash & mask();
    while (slots_[at].entry) at = (at + 1) & mask();
    slots_[at].hash = entry->hash;
    slots_[at].entry = std::move(entry);
    return *slots_[at].entry;
  }

  void rehash(std::size_t slots) {
    std::vector<Slot> old(slots);
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.entry) place(std::move(slot.entry));
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace hourfold
