#include "pipeline/log_identity.h"

#include <algorithm>

#include "pipeline/start_plan.h"

namespace hourfold {
namespace {

std::string text(Offset offset) { return std::to_string(offset.value); }

}  // namespace

Result<void> LogIdentity::check_record(const Record& record, std::span<const ParsedReading> readings) {
  if (const auto& folded = known_.last_folded; folded && record.offset >= folded->offset) {
    if (record.offset == folded->offset && record.timestamp_ms != folded->timestamp_ms) {
      return fatal(name_ + ": the record at offset " + text(record.offset) + " has timestamp " +
                   std::to_string(record.timestamp_ms) + ", the one folded from there had " +
                   std::to_string(folded->timestamp_ms) + ". " + std::string(kRecreatedAdvice));
    }
    known_.last_folded.reset();
  }
  while (!ahead_.empty() && ahead_.begin()->first.offset <= record.offset) {
    const auto [position, arrival_ms] = *ahead_.begin();
    // One that was passed over is no longer in the log, as after a compaction.
    if (position.offset == record.offset) {
      const bool same = position.index < readings.size() &&
                        readings[position.index].malformed == Malformed::kNone &&
                        readings[position.index].arrival_ms == arrival_ms;
      if (!same) {
        return fatal(name_ + ": the table has counted a reading at offset " + text(record.offset) +
                     " that arrived at " + std::to_string(arrival_ms) +
                     ", and the record there holds another one. " + std::string(kRecreatedAdvice));
      }
    }
    ahead_.erase(ahead_.begin());
  }
  return {};
}

Result<void> LogIdentity::check_counted(const Window& window, Position position, EpochMs arrival_ms) const {
  if (known_.rules_changed || position != window.last_position() || arrival_ms == window.last_arrival_ms())
    return {};
  return fatal(name_ + ": the reading at offset " + text(position.offset) +
               " is not the one that the table counted at that offset (arrival " +
               std::to_string(arrival_ms) + ", was " + std::to_string(window.last_arrival_ms()) + "). " +
               std::string(kRecreatedAdvice));
}

void LogIdentity::met(const Window& contribution, Offset next) {
  const Position last = contribution.last_position();
  if (last.offset < next) return;
  if (last.offset >= known_.end) doubted_ = doubted_ ? std::max(*doubted_, last.offset) : last.offset;
  if (known_.rules_changed) return;
  ahead_.emplace(last, contribution.last_arrival_ms());
  if (ahead_.size() > kMaxAhead) ahead_.erase(std::prev(ahead_.end()));
}

Result<void> LogIdentity::log_ends_at(Offset end, Offset doubted) {
  if (end <= doubted) {
    return fatal(name_ + ": the table has counted the reading at offset " + text(doubted) +
                 ", but the log ends at " + text(end) + ". " + std::string(kRecreatedAdvice));
  }
  known_.end = std::max(known_.end, end);
  if (doubted_ && *doubted_ < known_.end) doubted_.reset();
  return {};
}

}  // namespace hourfold
