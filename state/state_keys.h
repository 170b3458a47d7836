// Keys of one partition's RocksDB: a byte that names the kind, then numbers in the order of their values,
// then the device.
//
//   'f'                      -> format of the directory: text, "hourfold-state <n>"
//   'm'                      -> marks
//   'p' | hour | device      -> pending: first unacknowledged offset
//   'q' | offset | index     -> waiting reading
//   's' | offset | index     -> side record not yet acknowledged
//   'w' | hour | device      -> window
//
// Hours and offsets are 8 bytes big-endian with the sign bit flipped, so bytes sort as the numbers do, below
// zero too; an index is 4 bytes big-endian. Hour first: what expires is one range. Bytes: docs/FORMATS.md,
// "State"; pinned by tests/contract/window_store_keys_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/types.h"

namespace hourfold::state_keys {

enum class Kind : char {
  kFormat = 'f',
  kMarks = 'm',
  kPending = 'p',
  kWaiting = 'q',
  kSide = 's',
  kWindow = 'w'
};

inline constexpr int kFormatVersion = 1;
std::string format_value(int version);
// Empty if it is no format marker of ours.
std::optional<int> read_format_value(std::string_view value);

std::string format_key();
std::string marks_key();
std::string pending_key(HourStart hour, std::string_view device);
std::string waiting_key(Position position);
std::string side_key(Position position);
std::string window_key(HourStart hour, std::string_view device);

// All keys of a kind lie in [first_key, end_key), all windows and pending entries of the hours from h on at
// or above hour_key(kind, h).
std::string first_key(Kind kind);
std::string end_key(Kind kind);
std::string hour_key(Kind kind, HourStart hour);
// The key that comes directly after this one.
std::string next_key(std::string_view key);

struct HourAndDevice {
  HourStart hour;
  std::string_view device;  // into the key
};
// Empty if the key is too short. For windows and pending entries.
std::optional<HourAndDevice> read_hour_key(std::string_view key);
// Empty if the key has another size. For waiting readings and side records.
std::optional<Position> read_position_key(std::string_view key);

std::string offset_value(Offset offset);
std::optional<Offset> read_offset_value(std::string_view value);

}  // namespace hourfold::state_keys
