// Times, ranges, durations and sizes as users write them.
//
// An input is a letter that chooses the reader, and the text.
#include "app/query_range.h"
#include "core/config.h"
#include "payload/event_time.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {
namespace {

constexpr EpochMs kNow = 1'767'225'600'123;

void check_time(std::string_view text) {
  const auto time = parse_named_time(text, kNow);
  if (!time) return require(!time.error().message.empty(), "a message");
  require(time->begin <= time->end, "a time that ends after it begins", text);
  // What is RFC 3339 to payloads is the same moment here.
  const ParsedTime other = parse_rfc3339(text, 0);
  if (other.reason == Malformed::kNone)
    require(time->begin == other.ms && time->end == other.ms, "the same moment", text);
}

void check_range(std::string_view text) {
  Input input(text);
  const std::string_view from = input.line();
  for (const Step step : {Step::kHour, Step::kDay, Step::kMonth}) {
    const auto range = parse_range(from, input.rest(), step, kNow);
    if (!range) {
      require(!range.error().message.empty(), "a message");
      continue;
    }
    require(range->from <= range->to, "a range that ends after it begins", text);
    for (const HourStart bound : {range->from, range->to}) {
      if (bound == HourStart::lowest() || bound == HourStart::highest()) continue;
      require(step_start(bound.ms, step) == bound.ms, "whole steps", text);
    }
  }
}

void check_duration(std::string_view text) {
  const auto ms = parse_duration_ms(text);
  if (!ms) return;
  require(*ms >= 0, "no negative duration", text);
  require(parse_duration_ms(format_duration(*ms)) == ms, "the same duration", text);
}

void check_bytes(std::string_view text) {
  const auto bytes = parse_bytes(text);
  if (bytes) require(parse_bytes(std::to_string(*bytes)) == bytes, "the same size", text);
}

}  // namespace

void try_input(std::string_view bytes) {
  Input input(bytes);
  const std::size_t choice = input.letter(4);
  const Exact rest(input.rest());
  constexpr void (*kChecks[])(std::string_view) = {check_time, check_range, check_duration, check_bytes};
  kChecks[choice](rest.view());
}

}  // namespace hourfold::fuzz
