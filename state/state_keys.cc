#include "state/state_keys.h"

#include <charconv>

#include "core/bytes.h"

namespace hourfold::state_keys {
namespace {

constexpr std::uint64_t kSignBit = 1ULL << 63;
constexpr std::string_view kFormatName = "hourfold-state ";

std::uint64_t ordered(std::int64_t value) { return static_cast<std::uint64_t>(value) ^ kSignBit; }
std::int64_t from_ordered(std::uint64_t bits) { return static_cast<std::int64_t>(bits ^ kSignBit); }

std::string key_of(Kind kind, std::int64_t number, std::size_t more) {
  std::string key;
  key.reserve(9 + more);
  key.push_back(static_cast<char>(kind));
  put_be64(key, ordered(number));
  return key;
}

std::string hour_and_device(Kind kind, HourStart hour, std::string_view device) {
  std::string key = key_of(kind, hour.ms, device.size());
  key.append(device);
  return key;
}

std::string position_key(Kind kind, Position position) {
  std::string key = key_of(kind, position.offset.value, 4);
  put_be32(key, position.index);
  return key;
}

}  // namespace

std::string format_value(int version) { return std::string(kFormatName) + std::to_string(version); }

std::optional<int> read_format_value(std::string_view value) {
  if (!value.starts_with(kFormatName)) return std::nullopt;
  value.remove_prefix(kFormatName.size());
  int version = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), version);
  if (error != std::errc() || end != value.data() + value.size() || version < 0) return std::nullopt;
  return version;
}

std::string format_key() { return first_key(Kind::kFormat); }
std::string marks_key() { return first_key(Kind::kMarks); }
std::string pending_key(HourStart hour, std::string_view device) {
  return hour_and_device(Kind::kPending, hour, device);
}
std::string waiting_key(Position position) { return position_key(Kind::kWaiting, position); }
std::string side_key(Position position) { return position_key(Kind::kSide, position); }
std::string window_key(HourStart hour, std::string_view device) {
  return hour_and_device(Kind::kWindow, hour, device);
}

std::string first_key(Kind kind) { return std::string(1, static_cast<char>(kind)); }
std::string end_key(Kind kind) { return std::string(1, static_cast<char>(static_cast<char>(kind) + 1)); }
std::string hour_key(Kind kind, HourStart hour) { return key_of(kind, hour.ms, 0); }

std::string next_key(std::string_view key) {
  std::string next;
  next.reserve(key.size() + 1);
  next.append(key);
  next.push_back('\0');
  return next;
}

std::optional<HourAndDevice> read_hour_key(std::string_view key) {
  if (key.size() < 9) return std::nullopt;
  return HourAndDevice{HourStart{from_ordered(read_be64(key.data() + 1))}, key.substr(9)};
}

std::optional<Position> read_position_key(std::string_view key) {
  if (key.size() != 13) return std::nullopt;
  ByteReader reader(key.substr(1));
  const Offset offset{from_ordered(reader.be64())};
  return Position{offset, reader.be32()};
}

std::string offset_value(Offset offset) {
  std::string value;
  put_be64(value, ordered(offset.value));
  return value;
}

std::optional<Offset> read_offset_value(std::string_view value) {
  if (value.size() != 8) return std::nullopt;
  return Offset{from_ordered(read_be64(value.data()))};
}

}  // namespace hourfold::state_keys
