#include "app/readiness.h"

namespace hourfold {
namespace {

constexpr auto kStuckAfter = std::chrono::seconds(60);
constexpr auto kTroubleAfter = std::chrono::seconds(60);

std::string name_of(PartitionId partition) { return "partition " + std::to_string(partition.value); }

}  // namespace

std::optional<std::string> why_not_well(const Service::Status& status) {
  if (status.since_poll <= kStuckAfter) return std::nullopt;
  return "Kafka was not polled for " + format_duration(status.since_poll.count());
}

std::optional<std::string> why_not_ready(const Service::Status& status) {
  if (!status.joined) return "the consumer group has not handed out partitions yet";
  if (!status.waiting.empty()) return name_of(status.waiting.front()) + " is not open: " + status.waiting_for;
  if (!status.trouble.empty()) return status.trouble;
  for (const Service::PartitionStatus& one : status.partitions) {
    if (one.trouble.empty() || one.trouble_for <= kTroubleAfter) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(one.trouble_for);
    return name_of(one.partition) + ": " + one.trouble + " (for " + std::to_string(seconds.count()) +
           " s; tried again until it works)";
  }
  return std::nullopt;
}

}  // namespace hourfold
