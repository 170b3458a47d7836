// The part of the service that makes a rebuild of it: when everything is written, when the live service is
// taken over from, when the work is done. Everything here runs on the polling thread, but for raise().
#include <algorithm>

#include "app/service.h"
#include "app/table_facts.h"

namespace hourfold {
namespace {

constexpr std::int64_t kAdvanceEveryMs = 1'000;
// So close to the end of the log that the rest is read at once.
constexpr std::int64_t kCaughtUpRecords = 100'000;

}  // namespace

// Of our partitions: what may be written without taking over is written, and the live end is near.
bool Service::settled() const {
  return std::all_of(held_.begin(), held_.end(), [](const auto& entry) {
    const Held& held = entry.second;
    const auto next = static_cast<std::int64_t>(held.task->counters().next_offset.get());
    return held.task->settled() && held.end && held.end->value - next <= kCaughtUpRecords;
  });
}

void Service::take_over() {
  parts_.log('i', "everything that has settled is written; taking over: writing the newest hours, too");
  taking_over_ = true;
  for (auto& [partition, held] : held_) {
    held.task->release_all();
    held.thread->wake();
  }
}

// By the group's offsets, as other processes may have partitions of the rebuild, too.
Result<bool> Service::everything_written() {
  HourStart replaced_from = HourStart::lowest();
  for (std::int32_t i = 0; i < partition_count_; ++i) {
    auto committed = parts_.source->committed({i});
    if (!committed) return committed.error();
    if (!*committed) return false;
    const CommitMetadata metadata = read_commit_metadata((*committed)->metadata);
    if (!metadata.rebuild || (*committed)->next < metadata.rebuild->end) return false;
    replaced_from = std::max(replaced_from, metadata.rebuild->whole_from);
  }
  const std::lock_guard lock(watch_mutex_);
  raise_from_ = replaced_from;
  return true;
}

bool Service::own_written() const {
  return waiting_.empty() && std::all_of(held_.begin(), held_.end(), [](const auto& entry) {
           const Held& held = entry.second;
           return !held.rebuild_end || static_cast<std::int64_t>(held.task->counters().needed_from.get()) >=
                                           held.rebuild_end->value;
         });
}

void Service::advance_rebuild() {
  const std::int64_t now = parts_.clock->steady_ms();
  if (!parts_.rebuild || rebuild_done_ || !joined_ || now < next_advance_ms_) return;
  next_advance_ms_ = now + kAdvanceEveryMs;
  if (parts_.rebuild->follow && !taking_over_ && waiting_.empty() && settled()) take_over();
  if (!own_written()) return;
  auto written = everything_written();
  if (!written || !*written) return;
  if (parts_.rebuild->follow) {
    const std::lock_guard lock(watch_mutex_);
    raise_wanted_ = true;
    watch_changed_.notify_all();
  } else {
    rebuild_done_ = true;
  }
}

// On the watching thread: the call to the table may hang.
void Service::raise() {
  const Generation to = parts_.rebuild->generation;
  const std::string owner = parts_.config.kafka.group + " " + parts_.config.kafka.topics.front();
  HourStart from;
  {
    const std::lock_guard lock(watch_mutex_);
    from = raise_from_;
  }
  auto raised = raise_generation(*parts_.table, to, from, owner, parts_.clock->now_ms());
  const std::lock_guard lock(watch_mutex_);
  if (!raised && raised.error().retryable()) return;  // it will be wanted again
  if (!raised) {
    watch_fatal_ = raised.error();
    return;
  }
  rebuild_done_ = true;
  parts_.log('i', "the table is of generation " + std::to_string(to.value) +
                      " now; services of older generations stop within a minute. From now on this is the "
                      "live service: start it as `hourfold run` with kafka.group \"" +
                      parts_.config.kafka.group + "\"");
}

}  // namespace hourfold
