#include "core/window.h"

#include <algorithm>
#include <optional>

#include "core/check.h"
#include "core/contribution_codec.h"
#include "core/prefetch.h"

namespace hourfold {
namespace {

// Bytes of one metric in the encoding besides its name: name length, four doubles, count, index of its times.
constexpr std::size_t kMetricBound = 2 + 4 * 8 + 10 + 3;

bool outside(const Aggregate& aggregate, double value) {
  return value < aggregate.min || value > aggregate.max;
}

}  // namespace

struct Window::Fresh {
  struct Known {
    std::uint32_t metric;
    Slot slot;
  };
  std::vector<Known> known;            // in the schema already
  std::vector<std::uint32_t> unknown;  // indexes of metrics that the window does not have yet
  bool empty() const { return known.empty() && unknown.empty(); }
};

struct Window::Touched {
  std::vector<std::uint32_t> members;
  std::vector<std::uint32_t> present;
};

Window::Window(Parts parts)
    : schema_(std::move(parts.schema)),
      aggregates_(std::move(parts.aggregates)),
      times_of_(std::move(parts.times_of)),
      times_(std::move(parts.times)),
      revision_(parts.revision),
      last_position_(parts.last_position),
      last_arrival_ms_(parts.last_arrival_ms),
      size_bound_(bound_after(parts.encoded_bytes, schema_->size())),
      deduplicates_(parts.deduplicates) {
  HF_CHECK(aggregates_.size() == schema_->size());
}

FoldOutcome Window::fold(std::span<const Metric> metrics, std::uint32_t time, Position position,
                         EpochMs arrival_ms, FoldTools& tools) {
  const std::span<const Slot> slots = tools.slots.map(metrics, schema_);
  if (position <= last_position_)
    return {was_refused(metrics, slots, time, tools) ? FoldResult::kContributionFull
                                                     : FoldResult::kAlreadyCounted,
            0, false};
  FoldOutcome outcome;
  if (revision_ < kMaxRevision && fold_in_order(metrics, slots, time)) {
    // The steady case: the window's own metrics, at a time later than all before.
  } else {
    const Fresh fresh = find_fresh(metrics, slots, time, outcome);
    if (fresh.empty()) {
      outcome.result = FoldResult::kDuplicate;
      return outcome;
    }
    if (revision_ >= kMaxRevision) return {FoldResult::kHourFull, 0, false};
    if (schema_->size() + fresh.unknown.size() > tools.max_metrics)
      return {FoldResult::kContributionFull, 0, false};
    const std::size_t grown = size_bound_ + growth_bound(metrics, fresh);
    if (grown <= kMaxContributionBytes) {
      apply(metrics, fresh, time, tools);
      size_bound_ = static_cast<std::uint32_t>(grown);
    } else if (!fits_exactly(metrics, fresh, time, tools)) {
      return {FoldResult::kContributionFull, 0, false};
    }
  }
  revision_ = revision_.next();
  last_position_ = position;
  last_arrival_ms_ = arrival_ms;
  return outcome;
}

void Window::prefetch_content() const {
  // Of more metrics than that, the processor sees the pattern itself.
  constexpr std::size_t kMaxBytes = 512;
  prefetch_bytes(aggregates_.data(), std::min(kMaxBytes, aggregates_.size() * sizeof(Aggregate)));
  prefetch(times_.data());
}

void Window::prefetch_times() const {
  if (!times_.empty()) prefetch(times_.front().end_in_memory());
}

bool Window::was_refused(std::span<const Metric> metrics, std::span<const Slot> slots, std::uint32_t time,
                         FoldTools& tools) const {
  FoldOutcome unused;
  const Fresh fresh = find_fresh(metrics, slots, time, unused);
  // What was folded is held; without seen times that can only be told of the names.
  if (fresh.empty() || (!deduplicates_ && fresh.unknown.empty())) return false;
  if (schema_->size() + fresh.unknown.size() > tools.max_metrics) return true;
  if (size_bound_ + growth_bound(metrics, fresh) <= kMaxContributionBytes) return false;
  Window grown = *this;
  return !grown.fits_exactly(metrics, fresh, time, tools);
}

bool Window::fold_in_order(std::span<const Metric> metrics, std::span<const Slot> slots, std::uint32_t time) {
  if (metrics.size() != aggregates_.size()) return false;
  if (deduplicates_) {
    if (times_.size() != 1 || times_[0].size() == 0 ||
        size_bound_ + SeenTimes::kMaxBytesPerTime > kMaxContributionBytes)
      return false;
    if (!times_[0].is_after_all(time)) return false;
  }
  // Names of a reading are unique, so as many known slots as there are metrics means all of them.
  for (const Slot slot : slots) {
    if (slot == kNoSlot) return false;
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) aggregates_[slots[i]].add(metrics[i].value);
  if (deduplicates_) {
    times_[0].insert(time);
    size_bound_ += SeenTimes::kMaxBytesPerTime;
  }
  return true;
}

Window::Fresh Window::find_fresh(std::span<const Metric> metrics, std::span<const Slot> slots,
                                 std::uint32_t time, FoldOutcome& outcome) const {
  Fresh fresh;
  // Metrics share few sets of times: ask each once.
  std::vector<std::optional<bool>> seen(times_.size());
  for (std::uint32_t i = 0; i < metrics.size(); ++i) {
    const Slot slot = slots[i];
    if (slot == kNoSlot) {
      fresh.unknown.push_back(i);
      continue;
    }
    if (deduplicates_) {
      const std::size_t index = times_index(slot);
      if (!seen[index]) seen[index] = times_[index].contains(time);
      if (*seen[index]) {
        ++outcome.duplicate_values;
        outcome.conflict = outcome.conflict || outside(aggregates_[slot], metrics[i].value);
        continue;
      }
    }
    fresh.known.push_back({i, slot});
  }
  return fresh;
}

std::size_t Window::growth_bound(std::span<const Metric> metrics, const Fresh& fresh) const {
  std::size_t bound = 0;
  for (const std::uint32_t i : fresh.unknown) bound += metrics[i].name.size() + kMetricBound;
  if (!deduplicates_) return bound;
  // A set of which only some metrics are folded splits off a copy of itself, and so does in the encoding one
  // that had an equal. The new metrics get a set of their own.
  const Touched touched = touched_sets(fresh);
  for (std::size_t index = 0; index < times_.size(); ++index) {
    if (touched.present[index] == 0) continue;
    const bool stays_whole = touched.present[index] == touched.members[index] && !has_equal(index);
    bound += stays_whole ? SeenTimes::kMaxBytesAmongOthers
                         : 8 + (times_[index].size() + 1) * SeenTimes::kMaxBytesPerTime;
  }
  return bound + 8 + SeenTimes::kMaxBytesPerTime;
}

Window::Touched Window::touched_sets(const Fresh& fresh) const {
  Touched touched;
  touched.members.resize(times_.size());
  touched.present.resize(times_.size());
  for (std::size_t slot = 0; slot < aggregates_.size(); ++slot) ++touched.members[times_index(slot)];
  for (const Fresh::Known& known : fresh.known) ++touched.present[times_index(known.slot)];
  return touched;
}

bool Window::has_equal(std::size_t index) const {
  for (std::size_t other = 0; other < times_.size(); ++other) {
    if (other != index && times_[other] == times_[index]) return true;
  }
  return false;
}

// Room for the header, and for the counts and lengths of every metric to reach their greatest width.
std::uint32_t Window::bound_after(std::size_t encoded_bytes, std::size_t metrics) {
  return static_cast<std::uint32_t>(encoded_bytes + 2 * kHeaderBound + 12 * metrics);
}

bool Window::fits_exactly(std::span<const Metric> metrics, const Fresh& fresh, std::uint32_t time,
                          FoldTools& tools) {
  Window grown = *this;
  grown.apply(metrics, fresh, time, tools);
  std::string bytes;
  append_contribution(bytes, grown);
  // Revision, position and arrival are not in `grown` yet: the header bound covers them whatever they become.
  if (bytes.size() + kHeaderBound > kMaxContributionBytes) return false;
  grown.size_bound_ = bound_after(bytes.size(), grown.schema_->size());
  *this = std::move(grown);
  return true;
}

void Window::apply(std::span<const Metric> metrics, const Fresh& fresh, std::uint32_t time,
                   FoldTools& tools) {
  for (const Fresh::Known& known : fresh.known) aggregates_[known.slot].add(metrics[known.metric].value);
  if (deduplicates_) note_times(fresh, time);
  if (!fresh.unknown.empty()) add_metrics(metrics, fresh, time, tools);
}

void Window::note_times(const Fresh& fresh, std::uint32_t time) {
  if (fresh.known.empty()) return;
  const auto [members, present] = touched_sets(fresh);
  std::vector<std::uint16_t> split_to(times_.size());
  for (std::size_t index = 0, before = times_.size(); index < before; ++index) {
    if (present[index] == 0) continue;
    if (present[index] == members[index]) {
      times_[index].insert(time);
      continue;
    }
    if (times_of_.empty()) times_of_.assign(aggregates_.size(), 0);
    split_to[index] = static_cast<std::uint16_t>(times_.size());
    times_.push_back(times_[index]);
    times_.back().insert(time);
  }
  for (const Fresh::Known& known : fresh.known) {
    const std::size_t index = times_index(known.slot);
    if (index < split_to.size() && split_to[index] != 0) times_of_[known.slot] = split_to[index];
  }
}

void Window::add_metrics(std::span<const Metric> metrics, const Fresh& fresh, std::uint32_t time,
                         FoldTools& tools) {
  std::vector<std::uint32_t> added = fresh.unknown;
  std::sort(added.begin(), added.end(), [&](auto a, auto b) { return metrics[a].name < metrics[b].name; });
  std::vector<std::string> names;
  std::vector<Aggregate> aggregates;
  std::vector<std::uint16_t> times_of;
  const auto new_times = static_cast<std::uint16_t>(times_.size());
  std::size_t slot = 0;
  auto next = added.begin();
  while (slot < schema_->size() || next != added.end()) {
    if (next == added.end() || (slot < schema_->size() && schema_->name(slot) < metrics[*next].name)) {
      names.push_back(schema_->name(slot));
      aggregates.push_back(aggregates_[slot]);
      times_of.push_back(static_cast<std::uint16_t>(times_index(slot)));
      ++slot;
    } else {
      names.emplace_back(metrics[*next].name);
      aggregates.push_back(Aggregate::of(metrics[*next].value));
      times_of.push_back(new_times);
      ++next;
    }
  }
  schema_ = tools.schemas.get(std::move(names));
  aggregates_ = std::move(aggregates);
  if (!deduplicates_) return;
  times_.emplace_back().insert(time);
  if (times_.size() > 1) times_of_ = std::move(times_of);
}

std::size_t Window::memory_bytes() const {
  std::size_t bytes = sizeof *this + aggregates_.capacity() * sizeof(Aggregate) +
                      times_of_.capacity() * sizeof(std::uint16_t) + times_.capacity() * sizeof(SeenTimes);
  for (const SeenTimes& times : times_) bytes += times.memory_bytes();
  return bytes;
}

}  // namespace hourfold
