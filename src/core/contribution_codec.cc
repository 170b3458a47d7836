#include "core/contribution_codec.h"

#include <limits>
#include <unordered_map>

#include "core/bytes.h"
#include "core/check.h"

namespace hourfold {
namespace {

enum Flags : std::uint8_t { kDeduplicates = 1 };

// Equal sets get one number, in order of first use by the sorted metrics.
struct TimesNumbering {
  std::vector<std::uint32_t> number_of;    // by index in the window
  std::vector<std::uint32_t> first_index;  // by number

  explicit TimesNumbering(const Window& window) : number_of(window.times().size(), kUnset) {
    std::unordered_multimap<std::size_t, std::uint32_t> by_hash;
    for (std::size_t slot = 0; slot < window.schema().size(); ++slot) {
      const std::size_t index = window.times_index(slot);
      if (number_of[index] == kUnset) number_of[index] = number(window, index, by_hash);
    }
  }

 private:
  static constexpr std::uint32_t kUnset = 0xffffffff;

  std::uint32_t number(const Window& window, std::size_t index,
                       std::unordered_multimap<std::size_t, std::uint32_t>& by_hash) {
    const SeenTimes& times = window.times()[index];
    const std::size_t hash = window.times().size() == 1 ? 0 : times.hash();
    for (auto [at, end] = by_hash.equal_range(hash); at != end; ++at) {
      if (window.times()[first_index[at->second]] == times) return at->second;
    }
    const auto fresh = static_cast<std::uint32_t>(first_index.size());
    first_index.push_back(static_cast<std::uint32_t>(index));
    by_hash.emplace(hash, fresh);
    return fresh;
  }
};

void append_metric(std::string& out, const std::string& name, const Aggregate& aggregate) {
  put_string(out, name);
  put_double(out, aggregate.min);
  put_double(out, aggregate.max);
  put_double(out, aggregate.sum);
  put_double(out, aggregate.compensation);
  put_varint(out, static_cast<std::uint64_t>(aggregate.count));
}

Error broken(const char* what) {
  return fatal(std::string("contribution: ") + what + "; it was not written by this version or is damaged");
}

void add_contribution(RowPut& put, const Window& window, std::string_view qualifier) {
  std::string contribution;
  append_contribution(contribution, window);
  put.add('s', qualifier, contribution);
}

bool read_metric(ByteReader& in, std::vector<std::string>& names, Window::Parts& parts, bool deduplicates) {
  std::string name(in.string());
  Aggregate aggregate;
  aggregate.min = in.f64();
  aggregate.max = in.f64();
  aggregate.sum = in.f64();
  aggregate.compensation = in.f64();
  aggregate.count = in.whole();
  const std::uint64_t index = deduplicates ? in.varint() : 0;
  if (!in.ok() || aggregate.count < 1 || index >= kMaxMetricsPerWindow) return false;
  if (!names.empty() && !(names.back() < name)) return false;
  names.push_back(std::move(name));
  parts.aggregates.push_back(aggregate);
  if (deduplicates) parts.times_of.push_back(static_cast<std::uint16_t>(index));
  return true;
}

// Each set is used, and first used behind those before it.
bool is_numbered_in_order(const std::vector<std::uint16_t>& times_of, std::uint64_t sets) {
  std::uint64_t used = 0;
  for (const std::uint16_t index : times_of) {
    if (index > used) return false;
    if (index == used) ++used;
  }
  return used == sets;
}

bool are_different(const std::vector<SeenTimes>& sets) {
  if (sets.size() < 2) return true;
  std::unordered_multimap<std::size_t, const SeenTimes*> by_hash;
  for (const SeenTimes& times : sets) {
    const std::size_t hash = times.hash();
    for (auto [at, end] = by_hash.equal_range(hash); at != end; ++at) {
      if (*at->second == times) return false;
    }
    by_hash.emplace(hash, &times);
  }
  return true;
}

bool read_times(ByteReader& in, Window::Parts& parts) {
  const std::uint64_t sets = in.varint();
  if (!in.ok() || !is_numbered_in_order(parts.times_of, sets)) return false;
  for (std::uint64_t i = 0; i < sets; ++i) {
    auto times = SeenTimes::read_from(in);
    if (!times) return false;
    parts.times.push_back(std::move(*times));
  }
  if (!are_different(parts.times)) return false;
  if (parts.times.size() <= 1) parts.times_of.clear();
  return true;
}

}  // namespace

void append_contribution(std::string& out, const Window& window) {
  put_u8(out, kContributionVersion);
  put_u8(out, window.deduplicates() ? kDeduplicates : 0);
  put_varint(out, static_cast<std::uint64_t>(window.revision().value));
  // One up, so that the empty window's -1 has a place.
  put_varint(out, static_cast<std::uint64_t>(window.last_position().offset.value + 1));
  put_varint(out, window.last_position().index);
  put_be64(out, static_cast<std::uint64_t>(window.last_arrival_ms()));
  put_varint(out, window.schema().size());
  if (!window.deduplicates()) {
    for (std::size_t slot = 0; slot < window.schema().size(); ++slot) {
      append_metric(out, window.schema().name(slot), window.aggregate(slot));
    }
    return;
  }
  const TimesNumbering numbering(window);
  for (std::size_t slot = 0; slot < window.schema().size(); ++slot) {
    append_metric(out, window.schema().name(slot), window.aggregate(slot));
    put_varint(out, numbering.number_of[window.times_index(slot)]);
  }
  put_varint(out, numbering.first_index.size());
  for (const std::uint32_t index : numbering.first_index) window.times()[index].append_to(out);
}

Result<Window> read_contribution(std::string_view bytes, SchemaPool& pool) {
  ByteReader in(bytes);
  const std::uint8_t version = in.u8();
  if (in.ok() && version > kContributionVersion) {
    return fatal("contribution: version " + std::to_string(version) + " is newer than " +
                 std::to_string(kContributionVersion) +
                 ", the newest this program knows; run the version that wrote it, or a later one");
  }
  const std::uint8_t flags = in.u8();
  if (!in.ok() || version == 0 || flags > kDeduplicates) return broken("unknown header");
  Window::Parts parts;
  parts.deduplicates = flags == kDeduplicates;
  parts.revision = {in.whole()};
  parts.last_position.offset = {in.whole() - 1};
  parts.last_position.index =
      static_cast<std::uint32_t>(in.varint_up_to(std::numeric_limits<std::uint32_t>::max()));
  parts.last_arrival_ms = static_cast<EpochMs>(in.be64());
  const std::uint64_t metrics = in.varint();
  if (!in.ok() || metrics > kMaxMetricsPerWindow || parts.revision > kMaxRevision)
    return broken("impossible header");
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < metrics; ++i) {
    if (!read_metric(in, names, parts, parts.deduplicates)) return broken("impossible metric");
  }
  if (parts.deduplicates && !read_times(in, parts)) return broken("impossible seen times");
  if (!in.ok() || !in.at_end()) return broken("bytes left over or missing");
  parts.schema = pool.get(std::move(names));
  parts.encoded_bytes = bytes.size();
  return Window(std::move(parts));
}

std::string contribution_qualifier(std::string_view topic, PartitionId partition) {
  return std::string(topic) + "/" + std::to_string(partition.value);
}

bool same_topic(std::string_view qualifier, std::string_view other) {
  return qualifier.substr(0, qualifier.rfind('/')) == other.substr(0, other.rfind('/'));
}

RowPut make_contribution_put(const Window& window, std::string_view device, HourStart hour,
                             std::uint32_t buckets, Generation generation, std::string_view qualifier) {
  RowPut put(row_key(device, hour, buckets), cell_timestamp(hour, generation, window.revision()));
  add_contribution(put, window, qualifier);
  return put;
}

RowPut make_row_put(const Window& window, std::string_view device, HourStart hour, std::uint32_t buckets,
                    RowLayout layout, Generation generation, std::string_view qualifier) {
  RowPut put(row_key(device, hour, buckets), cell_timestamp(hour, generation, window.revision()));
  for (std::size_t slot = 0; slot < window.schema().size(); ++slot) {
    add_rollup_cells(put, window.schema().name(slot), window.aggregate(slot).rollup(), layout);
  }
  add_contribution(put, window, qualifier);
  return put;
}

}  // namespace hourfold
