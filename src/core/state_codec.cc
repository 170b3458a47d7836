#include "core/state_codec.h"

#include <charconv>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/bytes.h"

namespace hourfold {
namespace {

constexpr std::uint8_t kWaitingVersion = 1;
constexpr int kMarksVersion = 1;

Error newer(const char* what, unsigned version) {
  return fatal(std::string("state: a ") + what + " of version " + std::to_string(version) +
               " is newer than this program; run the version that wrote it, or a later one");
}

Error broken(const char* what) {
  return fatal(std::string("state: ") + what + " cannot be read; the state is damaged");
}

// lowest() and highest() have names of their own in the texts.
std::string hour_text(HourStart hour) {
  if (hour == HourStart::lowest()) return "none";
  if (hour == HourStart::highest()) return "unknown";
  return std::to_string(hour.ms);
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<HourStart> parse_hour(std::string_view text) {
  if (text == "none") return HourStart::lowest();
  if (text == "unknown") return HourStart::highest();
  const auto ms = integer(text);
  if (!ms || *ms % kHourMs != 0) return std::nullopt;
  return HourStart{*ms};
}

// Neither rounded nor cut to fit. What is none is thrown, as the library does with members of other types.
template <class Integer>
Integer whole(const nlohmann::json& value, Integer lowest = std::numeric_limits<Integer>::min()) {
  const auto number = value.is_number_integer() ? integer(value.dump()) : std::nullopt;
  if (!number || *number < lowest || *number > std::numeric_limits<Integer>::max())
    throw std::out_of_range(value.dump() + " is no whole number, or out of range");
  return static_cast<Integer>(*number);
}
std::int64_t whole64(const nlohmann::json& value) { return whole<std::int64_t>(value); }
HourStart whole_hour(const nlohmann::json& value) {
  const HourStart hour{whole64(value)};
  if (hour.ms % kHourMs != 0) throw std::out_of_range(value.dump() + " is no hour");
  return hour;
}

nlohmann::json rebuild_json(const RebuildMarks& rebuild) {
  nlohmann::json json = {{"end", rebuild.end.value},
                         {"whole_from", hour_text(rebuild.whole_from)},
                         {"only_whole", rebuild.only_whole},
                         {"released", {hour_text(rebuild.released.hour), rebuild.released.device}},
                         {"held", nlohmann::json::array()}};
  for (const auto& [hour, offset] : rebuild.held) json["held"].push_back({hour.ms, offset.value});
  return json;
}

std::optional<RebuildMarks> read_rebuild(const nlohmann::json& json) {
  const auto whole_from = parse_hour(json.at("whole_from").get<std::string>());
  const auto released = parse_hour(json.at("released").at(0).get<std::string>());
  if (!whole_from || !released) return std::nullopt;
  RebuildMarks rebuild;
  rebuild.end = {whole64(json.at("end"))};
  rebuild.whole_from = *whole_from;
  rebuild.only_whole = json.at("only_whole").get<bool>();
  rebuild.released = {*released, json.at("released").at(1).get<std::string>()};
  for (const auto& hour : json.at("held"))
    rebuild.held.emplace(whole_hour(hour.at(0)), Offset{whole64(hour.at(1))});
  return rebuild;
}

// END@HOUR, and behind it whether readings of earlier hours count as well.
std::string rebuild_text(const RebuildMarks& rebuild) {
  return std::to_string(rebuild.end.value) + "@" + hour_text(rebuild.whole_from) +
         (rebuild.only_whole ? "@whole" : "@all");
}

std::optional<RebuildMarks> parse_rebuild(std::string_view text) {
  const std::size_t first = text.find('@');
  const std::size_t second = text.rfind('@');
  if (first == std::string_view::npos || first == second) return std::nullopt;
  const auto end = integer(text.substr(0, first));
  const auto hour = parse_hour(text.substr(first + 1, second - first - 1));
  const std::string_view hours = text.substr(second + 1);
  if (!end || !hour || (hours != "whole" && hours != "all")) return std::nullopt;
  RebuildMarks rebuild;
  rebuild.end = {*end};
  rebuild.whole_from = *hour;
  rebuild.only_whole = hours == "whole";
  return rebuild;
}

}  // namespace

std::size_t WaitingReading::memory_bytes() const {
  std::size_t bytes =
      sizeof *this + device.capacity() + original.memory_bytes() + metrics.capacity() * sizeof metrics[0];
  for (const auto& metric : metrics) bytes += metric.first.capacity();
  return bytes;
}

std::string to_canonical_json(const WaitingReading& reading) {
  nlohmann::ordered_json json = {
      {"device", reading.device}, {"ts", reading.event_ms}, {"metrics", nlohmann::ordered_json::object()}};
  for (const auto& [name, value] : reading.metrics) json["metrics"][name] = value;
  return json.dump();
}

void append_waiting_reading(std::string& out, const WaitingReading& reading) {
  put_u8(out, kWaitingVersion);
  put_string(out, reading.device);
  put_be64(out, static_cast<std::uint64_t>(reading.event_ms));
  put_be64(out, static_cast<std::uint64_t>(reading.arrival_ms));
  put_varint(out, reading.metrics.size());
  for (const auto& [name, value] : reading.metrics) {
    put_string(out, name);
    put_double(out, value);
  }
  append_record_copy(out, reading.original);
}

Result<WaitingReading> read_waiting_reading(Position position, std::string_view bytes) {
  ByteReader in(bytes);
  const std::uint8_t version = in.u8();
  if (version > kWaitingVersion) return newer("waiting reading", version);
  WaitingReading reading;
  reading.position = position;
  reading.device = in.string();
  reading.event_ms = static_cast<EpochMs>(in.be64());
  reading.arrival_ms = static_cast<EpochMs>(in.be64());
  const std::uint64_t metrics = in.varint();
  if (!in.ok() || version == 0 || metrics > kMaxMetricsPerReading) return broken("a waiting reading");
  for (std::uint64_t i = 0; i < metrics; ++i) {
    std::string name(in.string());
    reading.metrics.emplace_back(std::move(name), in.f64());
  }
  reading.original = read_record_copy(in);
  if (!in.ok() || !in.at_end()) return broken("a waiting reading");
  return reading;
}

HourStart HourTrack::before(Offset offset) const {
  HourStart hour = base_;
  for (const auto& [at, risen_to] : rises_) {
    if (at >= offset) break;
    hour = risen_to;
  }
  return hour;
}

void HourTrack::forget_before(Offset offset) {
  while (!rises_.empty() && rises_.front().first < offset) {
    base_ = rises_.front().second;
    rises_.pop_front();
  }
}

std::string write_state_marks(const StateMarks& marks) {
  nlohmann::json json = {{"version", kMarksVersion},
                         {"next_offset", marks.next_offset.value},
                         {"look_below", hour_text(marks.look_below)},
                         {"expire_below", hour_text(marks.expire_below)},
                         {"highest_arrival", marks.highest_arrival_ms},
                         {"highest_hour", hour_text(marks.hours.base())},
                         {"partition_count", marks.partition_count},
                         {"generation", marks.generation.value},
                         {"fingerprint", marks.fingerprint}};
  for (const auto& [offset, hour] : marks.hours.rises())
    json["hour_rises"].push_back({offset.value, hour.ms});
  if (marks.last_folded)
    json["last_folded"] = {marks.last_folded->offset.value, marks.last_folded->timestamp_ms};
  for (const LostRange& range : marks.lost) json["lost"].push_back({range.from.value, range.to.value});
  for (const auto& [offset, to] : marks.fingerprint_changes)
    json["fingerprint_changes"].push_back({offset.value, to});
  if (marks.rebuild) json["rebuild"] = rebuild_json(*marks.rebuild);
  return json.dump();
}

Result<StateMarks> read_state_marks(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    const int version = whole<int>(json.at("version"), 1);
    if (version > kMarksVersion) return newer("set of marks", static_cast<unsigned>(version));
    const auto look_below = parse_hour(json.at("look_below").get<std::string>());
    const auto expire_below = parse_hour(json.at("expire_below").get<std::string>());
    const auto highest_hour = parse_hour(json.at("highest_hour").get<std::string>());
    if (!look_below || !expire_below || !highest_hour) return broken("an hour of the marks");
    StateMarks marks;
    marks.next_offset = {whole64(json.at("next_offset"))};
    marks.look_below = *look_below;
    marks.expire_below = *expire_below;
    marks.highest_arrival_ms = whole64(json.at("highest_arrival"));
    marks.hours = HourTrack(*highest_hour);
    for (const auto& rise : json.value("hour_rises", nlohmann::json::array())) {
      const Offset offset{whole64(rise.at(0))};
      const HourStart hour = whole_hour(rise.at(1));
      const auto& before = marks.hours.rises();
      if (hour <= marks.hours.highest() || (!before.empty() && offset < before.back().first))
        return broken("the rises of the highest hour");
      marks.hours.accept(offset, hour);
    }
    if (json.contains("last_folded")) {
      const auto& folded = json.at("last_folded");
      marks.last_folded = FoldedRecord{{whole64(folded.at(0))}, whole64(folded.at(1))};
    }
    marks.partition_count = whole<std::int32_t>(json.at("partition_count"), 0);
    marks.generation = {whole<std::int32_t>(json.at("generation"), 0)};
    marks.fingerprint = json.at("fingerprint").get<std::string>();
    for (const auto& range : json.value("lost", nlohmann::json::array())) {
      marks.lost.push_back({{whole64(range.at(0))}, {whole64(range.at(1))}});
    }
    for (const auto& change : json.value("fingerprint_changes", nlohmann::json::array())) {
      marks.fingerprint_changes.emplace_back(Offset{whole64(change.at(0))}, change.at(1).get<std::string>());
    }
    if (json.contains("rebuild")) {
      marks.rebuild = read_rebuild(json.at("rebuild"));
      if (!marks.rebuild) return broken("an hour of the marks");
    }
    return marks;
  } catch (const std::exception& error) {
    return fatal(std::string("state: the marks cannot be read: ") + error.what());
  }
}

std::string write_commit_metadata(const CommitMetadata& metadata) {
  std::string text = "hourfold/1 hour=" + hour_text(metadata.highest_hour) +
                     " partitions=" + std::to_string(metadata.partition_count);
  if (metadata.last_folded) {
    text += " folded=" + std::to_string(metadata.last_folded->offset.value) + "@" +
            std::to_string(metadata.last_folded->timestamp_ms);
  }
  if (metadata.rebuild) text += " rebuild=" + rebuild_text(*metadata.rebuild);
  // Last, so that metadata cut off by a broker's limit is noticed.
  return text + " rules=" + metadata.fingerprint + " .";
}

CommitMetadata read_commit_metadata(std::string_view text) {
  const std::string_view head = "hourfold/1 ";
  if (text.substr(0, head.size()) != head || text.substr(text.size() - 2) != " .") return {};
  text = text.substr(head.size(), text.size() - head.size() - 1);
  CommitMetadata metadata;
  std::optional<HourStart> hour;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() + 1);
    const std::string_view key = word.substr(0, word.find('='));
    if (key.size() == word.size()) return {};
    const std::string_view value = word.substr(key.size() + 1);
    if (key == "hour") {
      hour = parse_hour(value);
    } else if (key == "partitions") {
      const auto partitions = integer(value);
      if (!partitions || *partitions < 0 || *partitions > std::numeric_limits<std::int32_t>::max()) return {};
      metadata.partition_count = static_cast<std::int32_t>(*partitions);
    } else if (key == "folded") {
      const std::size_t at = value.find('@');
      if (at == std::string_view::npos) return {};
      const auto offset = integer(value.substr(0, at));
      const auto arrival = integer(value.substr(at + 1));
      if (!offset || !arrival) return {};
      metadata.last_folded = FoldedRecord{{*offset}, *arrival};
    } else if (key == "rebuild") {
      metadata.rebuild = parse_rebuild(value);
      if (!metadata.rebuild) return {};
    } else if (key == "rules") {
      metadata.fingerprint = value;
    }
  }
  if (!hour) return {};
  metadata.highest_hour = *hour;
  return metadata;
}

}  // namespace hourfold
