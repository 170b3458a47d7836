#include "pipeline/partition_worker.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/check.h"
#include "core/contribution_codec.h"

namespace hourfold {
namespace {

RecordCopy copy_of(const Record& record) {
  RecordCopy copy;
  copy.timestamp_ms = record.timestamp_ms;
  if (record.key) copy.key = std::string(*record.key);
  if (record.value) copy.value = std::string(*record.value);
  if (record.headers) copy.headers = *record.headers;
  return copy;
}

WaitingRoom::Settings waiting_settings(const WorkerSettings& settings, const std::string& qualifier) {
  WaitingRoom::Settings waiting;
  waiting.buckets = settings.buckets;
  waiting.contribution_qualifier = qualifier;
  waiting.max_bytes = settings.max_waiting_bytes;
  waiting.seed = static_cast<std::uint64_t>(settings.partition.value) + 11;
  return waiting;
}

EmitterSettings emitter_settings(const WorkerSettings& settings, Generation generation,
                                 const std::string& qualifier) {
  EmitterSettings emitter;
  emitter.layout = settings.layout;
  emitter.buckets = settings.buckets;
  emitter.generation = generation;
  emitter.contribution_qualifier = qualifier;
  emitter.seed = static_cast<std::uint64_t>(settings.partition.value) + 7;
  return emitter;
}

std::vector<std::unique_ptr<PayloadParser>> parsers(const WorkerSettings& settings, std::size_t count) {
  std::vector<std::unique_ptr<PayloadParser>> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(make_payload_parser(settings.shape, settings.schemas));
  return all;
}

std::uint32_t time_in_hour(EpochMs event_ms, HourStart hour) {
  return static_cast<std::uint32_t>(event_ms - hour.ms);
}

}  // namespace

PartitionWorker::PartitionWorker(WorkerSettings settings, StartPlan plan, WindowStore& store, SinkQueue& sink,
                                 SideOutput& side, EpochMs now)
    : settings_(std::move(settings)),
      marks_(std::move(plan.marks)),
      floor_(plan.floor),
      qualifier_(contribution_qualifier(settings_.topic, settings_.partition)),
      log_(qualifier_, {plan.log_end, marks_.last_folded, plan.rules_changed}),
      store_(store),
      sink_(sink),
      parsers_(parsers(settings_, kAhead)),
      windows_(store, tools_),
      gate_(marks_.rebuild),
      outbox_(settings_.emit, settings_.buckets),
      waiting_(waiting_settings(settings_, qualifier_), sink, counters_),
      side_tracker_(side, counters_, static_cast<std::uint64_t>(settings_.partition.value) + 13,
                    settings_.max_side_bytes),
      emitter_(
          emitter_settings(settings_, marks_.generation, qualifier_), windows_, outbox_, sink, counters_,
          [this](const OpenWindow& entry, const Window& window, const Error& error) {
            row_refused(entry, window, error);
          },
          [this](OpenWindow& entry, Offset first) { landed(entry, first); }),
      time_(now),
      // Staggered, so that the partitions of a process do not all write at the same moment.
      next_checkpoint_ms_(now + settings_.checkpoint_ms / 2 +
                          (settings_.partition.value * 7919) % (settings_.checkpoint_ms / 2 + 1)) {
  tools_.max_metrics = settings_.max_metrics;
  if (!settings_.shared) return;
  emitter_.share(*settings_.shared);
  waiting_.share(*settings_.shared);
}

Result<std::unique_ptr<PartitionWorker>> PartitionWorker::open(WorkerSettings settings, StartPlan plan,
                                                               WindowStore& store, SinkQueue& sink,
                                                               SideOutput& side, EpochMs now) {
  const bool keep = plan.state == StartPlan::State::kKeep;
  const bool forget = plan.forget_windows;
  std::unique_ptr<PartitionWorker> worker(
      new PartitionWorker(std::move(settings), std::move(plan), store, sink, side, now));
  auto last_hour = store.last_hour();
  if (!last_hour) return last_hour.error();
  worker->windows_.store_reaches(*last_hour);
  if (keep) {
    if (auto restored = worker->restore(forget, now); !restored) return restored.error();
  }
  worker->publish_history();
  worker->publish_gauges();
  return worker;
}

EpochMs PartitionWorker::advance(EpochMs wall) {
  const EpochMs now = time_.advance(wall);
  outbox_.set_ahead(time_.ahead_ms());
  return now;
}

Result<void> PartitionWorker::fold(const RecordBatch& batch, EpochMs wall) {
  const EpochMs now = advance(wall);
  const std::span<const Record> records(batch.records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::size_t ahead = i % kAhead;
    if (ahead == 0) look_ahead(records.subspan(i, std::min(kAhead, records.size() - i)));
    const Record& record = records[i];
    if (record.offset < marks_.next_offset) continue;
    if (past_end(record.offset)) {
      marks_.next_offset = gate_.marks()->end;
      break;
    }
    if (auto folded = fold_record(record, parsed_ahead_[ahead], now); !folded) return folded;
    marks_.next_offset = record.offset.next();
  }
  if (batch.read_to) {
    const Offset to = past_end(*batch.read_to) ? gate_.marks()->end : *batch.read_to;
    marks_.next_offset = std::max(marks_.next_offset, to);
  }
  publish_gauges();
  return {};
}

Result<void> PartitionWorker::fold_record(const Record& record, const ParsedRecord* parsed_ahead,
                                          EpochMs now) {
  counters_.bytes.add((record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0));
  if (!record.value) {
    if (auto same = log_.check_record(record, {}); !same) return same;
    counters_.records.add();
    counters_.tombstones.add();
    return {};
  }
  // The first parser's record has had its turn by now, or is this one.
  const ParsedRecord& parsed = parsed_ahead != nullptr ? *parsed_ahead : parse(record, 0);
  if (auto same = log_.check_record(record, parsed.readings); !same) return same;
  counters_.records.add();
  if (settings_.check_keys) {
    for (const ParsedReading& reading : parsed.readings) {
      if (reading.malformed != Malformed::kNone) continue;
      if (auto checked = check_key(record, reading); !checked) return checked;
    }
  }
  for (std::size_t i = 0; i < parsed.rejected_metrics.size(); ++i) {
    if (parsed.rejected_metrics[i] != 0) counters_.rejected_metrics[i].add(parsed.rejected_metrics[i]);
  }
  std::uint32_t index = 0;
  for (const ParsedReading& reading : parsed.readings) {
    const Position position{record.offset, index++};
    counters_.consumed.add();
    if (auto folded = fold_reading(record, parsed, reading, position, now); !folded) return folded;
  }
  return {};
}

Result<void> PartitionWorker::fold_reading(const Record& record, const ParsedRecord& parsed,
                                           const ParsedReading& reading, Position position, EpochMs now) {
  if (reading.malformed != Malformed::kNone) {
    counters_.malformed.add();
    counters_.malformed_by_reason[static_cast<std::size_t>(reading.malformed)].add();
    to_side(SideChannel::kDeadLetter, to_string(reading.malformed), record, position);
    return {};
  }
  switch (classify(reading.event_ms, reading.arrival_ms, settings_.policy)) {
    case Verdict::kQuarantine:
      counters_.quarantined.add();
      to_side(SideChannel::kQuarantine, "future", record, position);
      return {};
    case Verdict::kArchive:
      counters_.archived.add();
      to_side(SideChannel::kArchive, "too_old", record, position);
      return {};
    case Verdict::kFold:
      break;
  }
  const HourStart hour = HourStart::of(reading.event_ms);
  marks_.hours.accept(position.offset, hour);
  if (reading.metric_count == 0) {
    counters_.folded.add();
    return {};
  }
  if (gate_.leaves_out(hour, position.offset)) {
    counters_.already_counted.add();
    return {};
  }
  if (waiting_.waits_for(hour, reading.device)) {
    wait_for_look_up(record, parsed, reading, position);
    return {};
  }
  auto found = windows_.find(hour, reading.device);
  if (!found) return found.error();
  OpenWindow* entry = *found;
  if (!entry) {
    if (hour <= marks_.look_below) {
      wait_for_look_up(record, parsed, reading, position);
      return {};
    }
    counters_.windows_opened.add();
    entry = &windows_.insert(hour, reading.device, Window(settings_.deduplicate, tools_.schemas));
  }
  return fold_into(
      *entry, {parsed.metrics_of(reading), reading.event_ms, reading.arrival_ms, position, &record, nullptr},
      now);
}

Result<void> PartitionWorker::fold_into(OpenWindow& entry, const ReadingToFold& reading, EpochMs now) {
  auto window = windows_.content(entry);
  if (!window) return window.error();
  const std::uint32_t time = time_in_hour(reading.event_ms, entry.hour);
  const FoldOutcome outcome =
      (*window)->fold(reading.metrics, time, reading.position, reading.arrival_ms, tools_);
  if (outcome.duplicate_values != 0) counters_.duplicate_values.add(outcome.duplicate_values);
  if (outcome.conflict) counters_.conflicts.add();
  switch (outcome.result) {
    case FoldResult::kFolded:
      counters_.folded.add();
      windows_.mark_content_dirty(entry);
      if (gate_.holds(entry.hour, entry.device->id)) {
        gate_.hold(entry.hour, reading.position.offset);
      } else {
        outbox_.changed(entry, reading.position.offset, now);
      }
      marks_.highest_arrival_ms = std::max(marks_.highest_arrival_ms, reading.arrival_ms);
      if (reading.record)
        marks_.last_folded = FoldedRecord{reading.record->offset, reading.record->timestamp_ms};
      return {};
    case FoldResult::kDuplicate:
      counters_.duplicate.add();
      return {};
    case FoldResult::kAlreadyCounted:
      counters_.already_counted.add();
      return older_log_possible(entry.hour)
                 ? Result<void>()
                 : log_.check_counted(**window, reading.position, reading.arrival_ms);
    case FoldResult::kHourFull:
      counters_.quarantined.add();
      not_folded(SideChannel::kQuarantine, "hour_full", reading);
      return {};
    case FoldResult::kContributionFull:
      counters_.malformed.add();
      counters_.dead_contribution_full.add();
      not_folded(SideChannel::kDeadLetter, "contribution_full", reading);
      return {};
  }
  return {};
}

void PartitionWorker::not_folded(SideChannel channel, std::string_view reason, const ReadingToFold& reading) {
  RecordCopy original = reading.record ? copy_of(*reading.record) : reading.waited->original;
  side_tracker_.add(side_record(channel, reason, reading.position, std::move(original)),
                    reading.position.offset);
}

void PartitionWorker::wait_for_look_up(const Record& record, const ParsedRecord& parsed,
                                       const ParsedReading& reading, Position position) {
  WaitingReading waiting;
  waiting.position = position;
  waiting.device = reading.device;
  waiting.event_ms = reading.event_ms;
  waiting.arrival_ms = reading.arrival_ms;
  waiting.metrics.reserve(reading.metric_count);
  for (const Metric& metric : parsed.metrics_of(reading))
    waiting.metrics.emplace_back(metric.name, metric.value);
  // Should it not be folded after all, the side topic gets the record as it was; of a batch, the reading
  // alone.
  if (parsed.readings.size() == 1) {
    waiting.original = copy_of(record);
  } else {
    waiting.original.timestamp_ms = record.timestamp_ms;
    if (record.key) waiting.original.key = std::string(*record.key);
    waiting.original.value = to_canonical_json(waiting);
  }
  WindowKey key{HourStart::of(reading.event_ms), waiting.device};
  waiting_.add(std::move(key), std::move(waiting), false);
}

Result<Window> PartitionWorker::window_from(const WaitingRoom::Found& found) {
  if (!found.row.contribution) return Window(settings_.deduplicate, tools_.schemas);
  const StoredCell& cell = *found.row.contribution;
  const CellStamp stamp = split_cell_timestamp(cell.timestamp, found.key.hour);
  if (stamp.generation > marks_.generation) {
    return fatal(qualifier_ + ": the table holds generation " + std::to_string(stamp.generation.value) +
                 ", this worker is of generation " + std::to_string(marks_.generation.value) +
                 ": the table was rebuilt, and the service of the new generation goes on with it.");
  }
  if (stamp.generation < marks_.generation && gate_.replaces(found.key.hour))
    return Window(settings_.deduplicate, tools_.schemas);
  return read_contribution(cell.value, tools_.schemas);
}

Result<void> PartitionWorker::apply_found(WaitingRoom::Found& found, EpochMs now) {
  if (!found.row.contribution && found.row.has_rollup && !gate_.replaces(found.key.hour)) {
    // Totals without the contribution they were made of: folding would replace them with less.
    for (const WaitingReading& reading : found.readings) {
      counters_.malformed.add();
      counters_.dead_contribution_missing.add();
      side_tracker_.add(
          side_record(SideChannel::kDeadLetter, "contribution_missing", reading.position, reading.original),
          reading.position.offset);
    }
    return {};
  }
  auto window = window_from(found);
  if (!window) return window.error();
  if (found.row.contribution && !older_log_possible(found.key.hour)) log_.met(*window, marks_.next_offset);
  OpenWindow& entry = windows_.insert(found.key.hour, found.key.device, std::move(*window));
  if (found.row.contribution) contribution_found(entry, found, now);
  std::vector<Metric> metrics;
  for (const WaitingReading& reading : found.readings) {
    metrics.clear();
    for (const auto& [name, value] : reading.metrics) metrics.push_back({name, value});
    auto folded = fold_into(
        entry, {metrics, reading.event_ms, reading.arrival_ms, reading.position, nullptr, &reading}, now);
    if (!folded) return folded;
  }
  return {};
}

Result<void> PartitionWorker::check_key(const Record& record, const ParsedReading& reading) const {
  if (record.key && *record.key == reading.device) return {};
  const std::string key = record.key ? "'" + std::string(*record.key) + "'" : "null";
  return fatal(
      qualifier_ + ": the record at offset " + std::to_string(record.offset.value) + " has key " + key +
      " and device '" + std::string(reading.device) +
      "'. kafka.partitioning \"by_device\" needs the device as the key, so that all readings of a device are "
      "in one partition. "
      "If the producer's keys keep a device in one partition by other means, set it to \"trusted\"; if "
      "nothing does, to \"any\".");
}

SideRecord PartitionWorker::side_record(SideChannel channel, std::string_view reason, Position position,
                                        RecordCopy original) const {
  SideRecord side;
  side.channel = channel;
  side.reason = reason;
  side.topic = settings_.topic;
  side.partition = settings_.partition;
  side.position = position;
  side.timestamp_ms = original.timestamp_ms;
  side.key = std::move(original.key);
  side.value = std::move(original.value);
  side.headers = std::move(original.headers);
  return side;
}

void PartitionWorker::to_side(SideChannel channel, std::string_view reason, const Record& record,
                              Position position) {
  side_tracker_.add(side_record(channel, reason, position, copy_of(record)), position.offset);
}

void PartitionWorker::row_refused(const OpenWindow& entry, const Window& window, const Error& error) {
  SideRecord side;
  side.channel = SideChannel::kDeadLetter;
  side.reason = "row_refused";
  side.detail = error.message;
  side.topic = settings_.topic;
  side.partition = settings_.partition;
  side.position = window.last_position();
  side.timestamp_ms = window.last_arrival_ms();
  side.key = entry.device->id;
  side.headers.push_back({"hourfold.hour", std::to_string(entry.hour.ms)});
  append_contribution(side.value.emplace(), window);
  alarms_.push_back("the table refuses the row of device '" + entry.device->id + "', hour " +
                    std::to_string(entry.hour.ms) + ", for good: " + error.message +
                    "; its contribution is in the dead letters");
  side_tracker_.add(std::move(side), *entry.first_in_flight);
}

Result<void> PartitionWorker::step(EpochMs wall) {
  const EpochMs now = advance(wall);
  sink_.take_answers(put_answers_, look_up_answers_);
  for (const PutAnswer& answer : put_answers_) {
    if (auto taken = emitter_.take(answer, now); !taken) return taken;
  }
  put_answers_.clear();
  for (LookUpAnswer& answer : look_up_answers_) {
    auto found = waiting_.take(std::move(answer), now);
    if (!found) return found.error();
    for (WaitingRoom::Found& one : *found) {
      if (auto applied = apply_found(one, now); !applied) return applied;
    }
  }
  look_up_answers_.clear();
  side_tracker_.step(now);
  waiting_.step(now, settings_.max_outbox - std::min(settings_.max_outbox, outbox_.size()));
  if (auto released = release_held(now); !released) return released;
  if (auto sent = emitter_.step(now); !sent) return sent;
  const bool too_large = windows_.loaded_bytes() > settings_.memory_bytes;
  if (now >= next_checkpoint_ms_ ||
      (too_large && now >= next_checkpoint_ms_ - settings_.checkpoint_ms + 1000)) {
    if (auto done = write_checkpoint(now); !done) return done;
  }
  publish_gauges();
  return {};
}

bool PartitionWorker::full() const {
  return waiting_.full() || side_tracker_.full() ||
         outbox_.size() + waiting_.asked() + unproven_.size() >= settings_.max_outbox ||
         windows_.loaded_bytes() > settings_.memory_bytes + settings_.memory_bytes / 4;
}

std::string PartitionWorker::trouble() const {
  for (const std::string& error :
       {emitter_.last_error(), waiting_.last_error(), side_tracker_.last_error()}) {
    if (!error.empty()) return error;
  }
  return {};
}

std::vector<std::string> PartitionWorker::take_alarms() {
  std::vector<std::string> alarms = std::exchange(alarms_, {});
  std::ranges::move(side_tracker_.take_alarms(), std::back_inserter(alarms));
  return alarms;
}

void PartitionWorker::publish_history() {
  std::int64_t lost = 0;
  for (const LostRange& range : marks_.lost) lost += range.to.value - range.from.value;
  counters_.lost_ranges.set(marks_.lost.size());
  counters_.lost_offsets.set(static_cast<std::uint64_t>(lost));
  counters_.rule_changes.set(marks_.fingerprint_changes.size());
}

void PartitionWorker::publish_gauges() {
  counters_.waiting.set(waiting_.size());
  counters_.outbox.set(outbox_.size());
  counters_.unproven.set(unproven_.size());
  counters_.refused_kept.set(outbox_.refused_count());
  counters_.windows_in_memory.set(windows_.size());
  counters_.window_bytes.set(windows_.loaded_bytes());
  counters_.next_offset.set(static_cast<std::uint64_t>(marks_.next_offset.value));
  counters_.needed_from.set(static_cast<std::uint64_t>(needed_from().value));
}

}  // namespace hourfold
