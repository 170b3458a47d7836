// What the window store and the offset's metadata bring back: broken, or the very thing that would be
// written.
//
// An input is a letter that chooses the reader, and the bytes.
#include "core/bytes.h"
#include "core/record.h"
#include "core/state_codec.h"
#include "pipeline/side_tracker.h"
#include "state/state_keys.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {
namespace {

void check_marks(std::string_view text) {
  const auto marks = read_state_marks(text);
  if (!marks) return require(!marks.error().message.empty(), "a message");
  require(marks->partition_count >= 0 && marks->generation.value >= 0, "no negative counts", text);
  const std::string written = write_state_marks(*marks);
  const auto again = read_state_marks(written);
  require(again.has_value(), "what was written to be read", written);
  require_equal(write_state_marks(*again), written, "the same marks");
}

void check_metadata(std::string_view text) {
  const CommitMetadata metadata = read_commit_metadata(text);
  const std::string written = write_commit_metadata(metadata);
  require(metadata.partition_count >= 0, "no negative number of partitions", text);
  require_equal(write_commit_metadata(read_commit_metadata(written)), written, "the same metadata");
  // Cut off, it knows nothing.
  for (std::size_t size = 0; size < written.size(); ++size) {
    const CommitMetadata cut = read_commit_metadata(Exact(std::string_view(written).substr(0, size)).view());
    require(cut.highest_hour == HourStart::highest() && !cut.last_folded, "nothing known of a part", written);
  }
}

void check_waiting_reading(std::string_view bytes) {
  const auto reading = read_waiting_reading({{1}, 2}, bytes);
  if (!reading) return require(!reading.error().message.empty(), "a message");
  std::string again;
  append_waiting_reading(again, *reading);
  require_equal(again, bytes, "the bytes that were read");
}

void check_record_copy(std::string_view bytes) {
  ByteReader in(bytes);
  const RecordCopy record = read_record_copy(in);
  if (!in.ok()) return;
  std::string again;
  append_record_copy(again, record);
  require_equal(again, bytes.substr(0, bytes.size() - in.remaining()), "the bytes that were read");
}

void check_side_record(std::string_view bytes) {
  const auto held = read_side_record(bytes);
  if (!held) return require(!held.error().message.empty(), "a message");
  std::string again;
  append_side_record(again, held->record, held->holds);
  require_equal(again, bytes, "the bytes that were read");
}

void check_keys(std::string_view bytes) {
  using namespace state_keys;
  if (const auto key = read_hour_key(bytes))
    require_equal(window_key(key->hour, key->device).substr(1), bytes.substr(1), "the key of an hour");
  if (const auto position = read_position_key(bytes))
    require_equal(waiting_key(*position).substr(1), bytes.substr(1), "the key of a position");
  if (const auto offset = read_offset_value(bytes)) require_equal(offset_value(*offset), bytes, "an offset");
  if (const auto version = read_format_value(bytes))
    require(read_format_value(format_value(*version)) == version, "a version", bytes);
}

}  // namespace

void try_input(std::string_view bytes) {
  Input input(bytes);
  const std::size_t choice = input.letter(6);
  const Exact rest(input.rest());
  constexpr void (*kChecks[])(std::string_view) = {check_marks,       check_metadata, check_waiting_reading,
                                                   check_record_copy, check_keys,     check_side_record};
  kChecks[choice](rest.view());
}

}  // namespace hourfold::fuzz
