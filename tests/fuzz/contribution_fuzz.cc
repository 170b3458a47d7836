// The contribution as it comes back from HBase or RocksDB: broken, or what would be written again byte by
// byte. What was read goes on: it can be folded into, put and merged.
#include <limits>

#include "core/bytes.h"
#include "core/contribution_codec.h"
#include "core/seen_times.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {
namespace {

std::string encoded(const Window& window) {
  std::string bytes;
  append_contribution(bytes, window);
  return bytes;
}

void check_seen_times(std::string_view bytes) {
  ByteReader in(bytes);
  const auto times = SeenTimes::read_from(in);
  if (!times) return;
  std::string again;
  times->append_to(again);
  require_equal(again, bytes.substr(0, bytes.size() - in.remaining()), "the bytes that were read");
}

// A reading after all others is folded, unless a bound says no.
void go_on(Window& window, FoldTools& tools) {
  const Position last = window.last_position();
  const Metric metrics[] = {{"a", 1}, {"t", -2.5}};
  if (last.offset.value < std::numeric_limits<std::int64_t>::max()) {
    const Revision before = window.revision();
    const FoldOutcome outcome = window.fold(metrics, 1234, {last.offset.next(), 0}, 5, tools);
    const bool folded = outcome.result == FoldResult::kFolded;
    require(window.revision().value == before.value + (folded ? 1 : 0), "a revision a reading");
    require(outcome.result != FoldResult::kAlreadyCounted, "a new position not to be counted already");
  }
  const auto again = read_contribution(encoded(window), tools.schemas);
  require(again.has_value(), "what was folded to be read", again ? "" : again.error().message);
  require_equal(encoded(*again), encoded(window), "the same bytes");
}

}  // namespace

void try_input(std::string_view input) {
  const Exact bytes(input);
  FoldTools tools;
  check_seen_times(bytes.view());
  auto window = read_contribution(bytes.view(), tools.schemas);
  if (!window) return require(!window.error().message.empty(), "a message");
  require_equal(encoded(*window), bytes.view(), "the bytes that were read");
  for (const RowLayout layout : {RowLayout::kWide, RowLayout::kPacked}) {
    const RowPut put = make_row_put(*window, "d", HourStart{kHourMs}, 32, layout, Generation{1}, "topic/0");
    require(put.cell_count() > 0 && !why_unwritable(put), "a row that can be written");
  }
  go_on(*window, tools);
}

}  // namespace hourfold::fuzz
