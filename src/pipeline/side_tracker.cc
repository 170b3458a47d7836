#include "pipeline/side_tracker.h"

#include "core/bytes.h"

namespace hourfold {
namespace {

constexpr std::uint8_t kSideRecordVersion = 1;

RecordCopy copy_of(const SideRecord& record) {
  return {record.timestamp_ms, record.key, record.value, record.headers};
}

std::size_t size_of(const SideRecord& record) {
  return sizeof record + record.reason.size() + record.detail.size() + record.topic.size() +
         copy_of(record).memory_bytes();
}

}  // namespace

void append_side_record(std::string& out, const SideRecord& record, Offset holds) {
  put_u8(out, kSideRecordVersion);
  put_u8(out, static_cast<std::uint8_t>(record.channel));
  put_varint(out, static_cast<std::uint64_t>(holds.value));
  put_string(out, record.reason);
  put_string(out, record.detail);
  put_string(out, record.topic);
  put_be32(out, static_cast<std::uint32_t>(record.partition.value));
  append_record_copy(out, copy_of(record));
}

Result<HeldSideRecord> read_side_record(std::string_view bytes) {
  ByteReader in(bytes);
  const std::uint8_t version = in.u8();
  if (in.ok() && version > kSideRecordVersion)
    return fatal("state: a side record is of a newer version; run the version that wrote it");
  HeldSideRecord held;
  SideRecord& record = held.record;
  record.channel = static_cast<SideChannel>(in.u8());
  held.holds = {in.whole()};
  record.reason = in.string();
  record.detail = in.string();
  record.topic = in.string();
  record.partition = {static_cast<std::int32_t>(in.be32())};
  RecordCopy copy = read_record_copy(in);
  record.timestamp_ms = copy.timestamp_ms;
  record.key = std::move(copy.key);
  record.value = std::move(copy.value);
  record.headers = std::move(copy.headers);
  if (!in.ok() || !in.at_end() || version == 0 || record.channel > SideChannel::kArchive) {
    return fatal("state: a side record cannot be read; the state is damaged");
  }
  return held;
}

void SideTracker::add(SideRecord record, Offset holds) { insert({std::move(record), holds}, false); }

Result<void> SideTracker::restore(Position position, std::string_view bytes) {
  auto held = read_side_record(bytes);
  if (!held) return held.error();
  held->record.position = position;
  insert(std::move(*held), true);
  return {};
}

void SideTracker::insert(HeldSideRecord held, bool persisted) {
  const Position position = held.record.position;
  const Offset holds = held.holds;
  const std::size_t bytes = size_of(held.record);
  const auto [at, fresh] = records_.try_emplace(position, Entry{std::move(held), bytes, persisted});
  if (!fresh) return;
  bytes_ += bytes;
  holds_.insert(holds);
  unsent_.insert(position);
  counters_.side_unacknowledged.set(records_.size());
}

void SideTracker::step(EpochMs now) {
  if (records_.empty()) return;
  SideOutcomes outcomes;
  output_.take_outcomes(outcomes);
  for (const Position position : outcomes.acknowledged) done(position);
  for (const auto& [position, why] : outcomes.refused) refused(position, why);
  for (const Position position : outcomes.failed) {
    if (records_.contains(position)) unsent_.insert(position);
  }
  counters_.side_reduced.add(outcomes.reduced);
  // Only an acknowledgement ends a back-off: that the local queue takes a record says nothing about the
  // topic.
  if (!outcomes.failed.empty()) {
    last_error_ = std::to_string(outcomes.failed.size()) +
                  " side records were not taken by their topic, the first at offset " +
                  std::to_string(outcomes.failed.front().offset.value);
    backoff_.failed(now);
  } else if (!outcomes.acknowledged.empty() || !outcomes.refused.empty()) {
    backoff_.succeeded();
    last_error_.clear();
  }
  if (!backoff_.ready(now)) return;
  while (!unsent_.empty()) {
    const Position position = *unsent_.begin();
    if (auto sent = output_.send(records_.at(position).held.record); !sent) {
      if (sent.error().kind == ErrorKind::kRefused) {
        refused(position, sent.error().message);
        continue;
      }
      last_error_ = sent.error().message;
      backoff_.failed(now);
      return;
    }
    unsent_.erase(position);
  }
}

void SideTracker::refused(Position position, const std::string& why) {
  const auto at = records_.find(position);
  if (at == records_.end()) return;
  const SideRecord& record = at->second.held.record;
  counters_.side_refused.add();
  alarms_.push_back("the " + std::string(to_string(record.channel)) + " record of " + record.topic + "/" +
                    std::to_string(record.partition.value) + " offset " +
                    std::to_string(position.offset.value) + " index " + std::to_string(position.index) +
                    " (" + record.reason + ") is not written, it is refused for good: " + why);
  done(position);
}

void SideTracker::done(Position position) {
  const auto at = records_.find(position);
  if (at == records_.end()) return;
  bytes_ -= at->second.bytes;
  holds_.erase(holds_.find(at->second.held.holds));
  if (at->second.persisted) gone_.push_back(position);
  records_.erase(at);
  unsent_.erase(position);
  counters_.side_unacknowledged.set(records_.size());
}

void SideTracker::collect_changes(StateChanges& changes) {
  for (const Position position : gone_) changes.side.push_back({position, std::nullopt});
  gone_.clear();
  for (auto& [position, entry] : records_) {
    if (entry.persisted) continue;
    entry.persisted = true;
    std::string value;
    append_side_record(value, entry.held.record, entry.held.holds);
    changes.side.push_back({position, std::move(value)});
  }
}

}  // namespace hourfold
