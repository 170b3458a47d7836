// The part of the service that notices when the topic grows, and sees to it that no row has half a total then
// (docs/decisions/0012). Everything here runs on the polling thread, but for note_wanted().
#include "app/rebuild_plan.h"
#include "app/service.h"

namespace hourfold {
namespace {

constexpr std::int64_t kCountEveryMs = 500;
constexpr std::int64_t kCountSharedEveryMs = 60'000;
constexpr auto kProveAtMost = std::chrono::milliseconds(1'000);

}  // namespace

// Before anything is read: what the table knows of the topic, and what it has to know.
Result<void> Service::note_topic() {
  const std::string& topic = parts_.config.kafka.topics.front();
  const auto noted = facts_.partitions.find(topic);
  const std::int32_t before = noted == facts_.partitions.end() ? 0 : noted->second;
  if (auto fine = check_partition_count(topic, before, partition_count_); !fine) return fine;
  const bool grown = before != 0 && before < partition_count_;
  const bool several = facts_.several || grown || parts_.config.kafka.partitioning == Partitioning::kAny ||
                       (parts_.rebuild && parts_.rebuild->several);
  if (several && parts_.rebuild && parts_.rebuild->generation > facts_.generation)
    return fatal(std::string(kSharedRebuildAdvice));
  if (auto done = note_partitions(*parts_.table, topic, partition_count_, several, parts_.clock->now_ms());
      !done)
    return done;
  if (grown) say_grown(before, partition_count_);
  shared_.store(several);
  told_count_ = several ? partition_count_ : 0;
  return {};
}

void Service::say_grown(std::int32_t before, std::int32_t now) const {
  parts_.log('w', "topic " + parts_.config.kafka.topics.front() + " has grown from " +
                      std::to_string(before) + " to " + std::to_string(now) +
                      " partitions: rows of the table may have several contributions from now on");
}

SharedRowRules Service::shared_rows() {
  const std::lock_guard lock(watch_mutex_);
  return {parts_.config.sink.layout, {generation_.load()}, facts_.replaced_from};
}

Result<void> Service::watch_partitions() {
  if (!counter_->asked()) {
    if (parts_.clock->steady_ms() >= next_count_ms_) ask_partitions();
    return {};
  }
  const auto answer = counter_->take();
  // Without an answer the broker is away: asked again.
  return answer && *answer ? counted(**answer) : Result<void>();
}

void Service::ask_partitions() {
  asked_.clear();
  for (const auto& [partition, held] : held_) asked_[partition] = {held.task, held.task->acknowledgements()};
  counter_->ask();
  next_count_ms_ = parts_.clock->steady_ms() + (shared_ ? kCountSharedEveryMs : kCountEveryMs);
}

Result<void> Service::counted(std::int32_t partitions) {
  const std::string& topic = parts_.config.kafka.topics.front();
  if (auto fine = check_partition_count(topic, partition_count_, partitions); !fine) return fine;
  if (partitions > partition_count_) {
    if (rebuilding())
      return fatal("topic " + topic + " has grown to " + std::to_string(partitions) +
                   " partitions while it is read again: begin the rebuild anew");
    say_grown(partition_count_, partitions);
    partition_count_ = partitions;
    note_growth();
    return {};
  }
  if (!growth_noted()) return {};
  for (const auto& [partition, asked] : asked_) asked.first->prove(asked.second);
  return {};
}

// Before partitions are given back: what they have written counts, if it does.
void Service::prove_now() {
  if (!counter_ || shared_) return;
  for (int question = 0; question < 2; ++question) {
    // The one under way may be older than the last acknowledgements.
    if (!counter_->asked()) ask_partitions();
    const auto answer = counter_->wait(kProveAtMost);
    if (!answer || !*answer || !counted(**answer)) return;
  }
}

bool Service::growth_noted() {
  const std::lock_guard lock(watch_mutex_);
  return !note_;
}

void Service::note_growth() {
  const std::lock_guard lock(watch_mutex_);
  note_ = partition_count_;
  note_fresh_ = true;
  watch_changed_.notify_all();
}

void Service::note_wanted() {
  std::optional<std::int32_t> count;
  {
    const std::lock_guard lock(watch_mutex_);
    count = note_;
  }
  if (!count) return;
  if (!note_partitions(*parts_.table, parts_.config.kafka.topics.front(), *count, true,
                       parts_.clock->now_ms()))
    return;  // tried again
  const std::lock_guard lock(watch_mutex_);
  shared_.store(true);
  if (note_ == count) note_.reset();
}

void Service::tell_of_sharing() {
  if (!shared_ || told_count_ == partition_count_ || !growth_noted()) return;
  told_count_ = partition_count_;
  const SharedRowRules rules = shared_rows();
  for (const auto& [partition, held] : held_) {
    held.task->share(rules, partition_count_);
    held.thread->wake();
  }
}

}  // namespace hourfold
