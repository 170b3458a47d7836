#include "pipeline/window_table.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "core/check.h"
#include "core/contribution_codec.h"
#include "core/murmur3.h"
#include "pipeline/device_index.h"

namespace hourfold {
namespace {

std::uint64_t hash_of(std::string_view device) { return std::hash<std::string_view>{}(device); }

// In the order of the store's keys, in which writing them is much cheaper.
void sort_for_store(StateChanges& changes) {
  const auto before = [](const auto& a, const auto& b) {
    return a.hour != b.hour ? a.hour < b.hour : a.device < b.device;
  };
  std::sort(changes.windows.begin(), changes.windows.end(), before);
  std::sort(changes.pending.begin(), changes.pending.end(), before);
}

OpenWindow* find_hour(const DeviceEntry& device, HourStart hour) {
  for (const auto& entry : device.windows) {
    if (entry->hour == hour) return entry.get();
  }
  return nullptr;
}

}  // namespace

WindowTable::WindowTable(WindowStore& store, FoldTools& tools)
    : store_(store), tools_(tools), devices_(std::make_unique<DeviceIndex>()) {}

WindowTable::~WindowTable() = default;

Result<OpenWindow*> WindowTable::find(HourStart hour, std::string_view device) {
  if (const DeviceEntry* known = devices_->find(device, hash_of(device))) {
    if (OpenWindow* entry = find_hour(*known, hour)) return entry;
  }
  return hour > stored_to_ ? Result<OpenWindow*>(nullptr) : load(hour, device);
}

// Each step asks for what the next one reads; by then most of it has come.
void WindowTable::prefetch(std::span<const Upcoming> upcoming) const {
  const std::size_t count = std::min(upcoming.size(), kMaxUpcoming);
  std::array<std::uint64_t, kMaxUpcoming> hashes;
  std::array<const DeviceEntry*, kMaxUpcoming> devices;
  std::array<const OpenWindow*, kMaxUpcoming> windows;
  for (std::size_t i = 0; i < count; ++i) {
    hashes[i] = hash_of(upcoming[i].device);
    devices_->prefetch(hashes[i]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    devices[i] = devices_->peek(hashes[i]);
    if (devices[i] != nullptr) prefetch_bytes(devices[i], sizeof(DeviceEntry));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (devices[i] != nullptr) hourfold::prefetch(devices[i]->windows.data());
  }
  // The hour that was opened last is nearly always the one.
  for (std::size_t i = 0; i < count; ++i) {
    windows[i] =
        devices[i] == nullptr || devices[i]->windows.empty() ? nullptr : devices[i]->windows.front().get();
    if (windows[i] != nullptr) prefetch_bytes(windows[i], sizeof(OpenWindow));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (windows[i] != nullptr && windows[i]->hour != upcoming[i].hour)
      windows[i] = find_hour(*devices[i], upcoming[i].hour);
    if (windows[i] != nullptr && windows[i]->window) windows[i]->window->prefetch_content();
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (windows[i] != nullptr && windows[i]->window) windows[i]->window->prefetch_times();
  }
}

Result<OpenWindow*> WindowTable::load(HourStart hour, std::string_view device) {
  auto bytes = store_.find(hour, device);
  if (!bytes) return bytes.error();
  if (!*bytes) return static_cast<OpenWindow*>(nullptr);
  auto window = read_contribution(**bytes, tools_.schemas);
  if (!window) return window.error();
  return &insert(hour, device, std::move(*window));
}

OpenWindow& WindowTable::new_entry(HourStart hour, std::string_view device) {
  const std::uint64_t hash = hash_of(device);
  DeviceEntry* owner = devices_->find(device, hash);
  if (!owner) {
    auto fresh = std::make_unique<DeviceEntry>();
    fresh->id = device;
    fresh->hash = hash;
    fresh->murmur = murmur3_32(device, 0);
    owner = &devices_->insert(std::move(fresh));
  }
  HF_CHECK(find_hour(*owner, hour) == nullptr);
  owner->windows.insert(owner->windows.begin(), std::make_unique<OpenWindow>(owner, hour));
  ++entries_;
  OpenWindow& entry = *owner->windows.front();
  entry.touched = interval_;
  return entry;
}

OpenWindow& WindowTable::insert(HourStart hour, std::string_view device, Window window) {
  OpenWindow& entry = new_entry(hour, device);
  entry.window = std::move(window);
  count_bytes(entry);
  return entry;
}

OpenWindow& WindowTable::insert_unloaded(HourStart hour, std::string_view device) {
  return new_entry(hour, device);
}

OpenWindow& WindowTable::stored_entry(HourStart hour, std::string_view device) {
  if (const DeviceEntry* known = devices_->find(device, hash_of(device))) {
    if (OpenWindow* entry = find_hour(*known, hour)) return *entry;
  }
  return new_entry(hour, device);
}

Result<Window*> WindowTable::content(OpenWindow& entry) {
  if (entry.window) return &*entry.window;
  auto bytes = store_.find(entry.hour, entry.device->id);
  if (!bytes) return bytes.error();
  if (!*bytes)
    return fatal("state: the pending window of device '" + entry.device->id +
                 "' is missing; the state is damaged");
  auto window = read_contribution(**bytes, tools_.schemas);
  if (!window) return window.error();
  entry.window = std::move(*window);
  count_bytes(entry);
  return &*entry.window;
}

void WindowTable::mark_content_dirty(OpenWindow& entry) {
  entry.touched = interval_;
  if (entry.content_dirty) return;
  entry.content_dirty = true;
  // The first fold after a checkpoint is where growth since then is noticed.
  count_bytes(entry);
  list_dirty(entry);
}

void WindowTable::list_dirty(OpenWindow& entry) {
  if (entry.listed_dirty) return;
  entry.listed_dirty = true;
  dirty_.push_back(&entry);
}

void WindowTable::count_bytes(OpenWindow& entry) {
  loaded_bytes_ -= entry.counted_bytes;
  entry.counted_bytes =
      entry.window ? static_cast<std::uint32_t>(entry.window->memory_bytes() + sizeof(OpenWindow)) : 0;
  loaded_bytes_ += entry.counted_bytes;
}

std::size_t WindowTable::collect_changes(StateChanges& changes) {
  const HourStart below = changes.expire_below.value_or(HourStart::lowest());
  for (OpenWindow* entry : dirty_) {
    const bool expires = entry->hour < below && !entry->must_stay();
    if (entry->content_dirty && !expires) {
      HF_CHECK(entry->window);
      std::string value;
      append_contribution(value, *entry->window);
      changes.windows.push_back({entry->hour, entry->device->id, std::move(value)});
    }
    if (entry->pending_mark() != entry->stored_mark) {
      changes.pending.push_back({entry->hour, entry->device->id, entry->pending_mark()});
      entry->stored_mark = entry->pending_mark();
    }
    entry->content_dirty = false;
    entry->listed_dirty = false;
    count_bytes(*entry);
  }
  dirty_.clear();
  ++interval_;
  sort_for_store(changes);
  return changes.expire_below ? expire(below, changes.spared) : 0;
}

std::size_t WindowTable::expire(HourStart below, std::vector<WindowKey>& spared) {
  const std::size_t before = entries_;
  devices_->retain([&](DeviceEntry& device) {
    std::erase_if(device.windows, [&](const std::unique_ptr<OpenWindow>& entry) {
      if (entry->hour >= below) return false;
      if (entry->must_stay()) {
        spared.push_back({entry->hour, device.id});
        return false;
      }
      unload(*entry);
      --entries_;
      return true;
    });
    return !device.windows.empty();
  });
  std::sort(spared.begin(), spared.end());
  return before - entries_;
}

void WindowTable::shrink(std::size_t target_bytes) {
  if (loaded_bytes_ <= target_bytes) return;
  // Twice: first what was not folded into during the last whole interval, then anything clean.
  for (const std::uint32_t untouched_since : {interval_ > 0 ? interval_ - 1 : 0, interval_ + 1}) {
    devices_->retain([&](DeviceEntry& device) {
      return loaded_bytes_ <= target_bytes || shrink_device(device, untouched_since);
    });
    if (loaded_bytes_ <= target_bytes) return;
  }
}

bool WindowTable::shrink_device(DeviceEntry& device, std::uint32_t untouched_since) {
  std::erase_if(device.windows, [&](const std::unique_ptr<OpenWindow>& entry) {
    if (entry->content_dirty || entry->listed_dirty || entry->touched >= untouched_since) return false;
    unload(*entry);
    if (entry->must_stay()) return false;
    stored_to_ = std::max(stored_to_, entry->hour);
    --entries_;
    return true;
  });
  return !device.windows.empty();
}

void WindowTable::unload(OpenWindow& entry) {
  entry.window.reset();
  count_bytes(entry);
}

}  // namespace hourfold
