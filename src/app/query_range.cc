#include "app/query_range.h"

#include <charconv>
#include <chrono>
#include <string>

#include "core/config.h"
#include "core/reading.h"

namespace hourfold {
namespace {

using namespace std::chrono;

constexpr EpochMs kMinuteMs = 60'000;
constexpr EpochMs kDayMs = 24 * kHourMs;

EpochMs to_ms(year_month_day date) {
  return sys_time<milliseconds>(sys_days(date)).time_since_epoch().count();
}

year_month_day date_of(EpochMs time) { return floor<days>(sys_time<milliseconds>(milliseconds(time))); }

// Reads a text from left to right; once something did not fit, nothing does.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int digits(std::size_t count) {
    int value = 0;
    ok_ = ok_ && rest_.size() >= count;
    for (std::size_t i = 0; ok_ && i < count; ++i) {
      ok_ = rest_[i] >= '0' && rest_[i] <= '9';
      value = value * 10 + (rest_[i] - '0');
    }
    if (ok_) rest_.remove_prefix(count);
    return value;
  }
  bool take(std::string_view any_of) {
    if (!ok_ || rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void need(std::string_view any_of) { ok_ = take(any_of) && ok_; }
  void fail() { ok_ = false; }
  char front() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// Behind the seconds' dot; finer than a millisecond is cut off.
EpochMs scan_fraction(Scanner& in) {
  EpochMs ms = in.digits(1) * 100;
  for (EpochMs unit = 10; in.front() >= '0' && in.front() <= '9'; unit /= 10) ms += in.digits(1) * unit;
  return ms;
}

EpochMs scan_offset(Scanner& in) {
  if (in.at_end() || in.take("Zz")) return 0;
  const bool east = in.front() == '+';
  in.need("+-");
  const int hours = in.digits(2);
  in.take(":");
  const int minutes = in.digits(2);
  if (hours > 23 || minutes > 59) in.fail();
  const EpochMs offset = hours * kHourMs + minutes * kMinuteMs;
  return east ? offset : -offset;
}

EpochMs scan_clock(Scanner& in) {
  const int hour = in.digits(2);
  in.need(":");
  const int minute = in.digits(2);
  EpochMs ms = hour * kHourMs + minute * kMinuteMs;
  if (hour > 23 || minute > 59) in.fail();
  if (!in.take(":")) return ms;
  const int second = in.digits(2);
  if (second > 60) in.fail();
  ms += second * 1000;
  return in.take(".,") ? ms + scan_fraction(in) : ms;
}

std::optional<NamedTime> parse_date(std::string_view text) {
  Scanner in(text);
  const year y{in.digits(4)};
  in.need("-");
  const month m{static_cast<unsigned>(in.digits(2))};
  if (in.at_end() && m.ok()) return NamedTime{to_ms(y / m / 1), to_ms(y / m / 1 + months(1))};
  in.need("-");
  const year_month_day date = y / m / day{static_cast<unsigned>(in.digits(2))};
  if (!in.ok() || !date.ok()) return std::nullopt;
  const EpochMs begin = to_ms(date);
  if (in.at_end()) return NamedTime{begin, begin + kDayMs};
  in.need("Tt ");
  const EpochMs clock = scan_clock(in);
  const EpochMs moment = begin + clock - scan_offset(in);
  return in.at_end() ? std::optional(NamedTime{moment, moment}) : std::nullopt;
}

std::optional<EpochMs> parse_epoch(std::string_view text) {
  EpochMs value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 0 || value > kMaxEventMs)
    return std::nullopt;
  return value;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  out.append(text).append("'");
  return out;
}

Error no_time(std::string_view text) {
  return refused(quoted(text) +
                 " is no time: give 2026-01-31, 2026-01, 2026-01-31T06:00Z, epoch milliseconds, now, or -24h "
                 "before now");
}

HourStart start_hour(EpochMs time, Step step) { return {step_start(time, step)}; }
HourStart end_hour(EpochMs time, Step step) {
  const EpochMs start = step_start(time, step);
  return {start == time ? start : next_step(start, step)};
}

}  // namespace

std::string_view to_string(Step step) {
  switch (step) {
    case Step::kHour:
      return "hour";
    case Step::kDay:
      return "day";
    case Step::kMonth:
      return "month";
  }
  return "?";
}

EpochMs step_start(EpochMs time, Step step) {
  switch (step) {
    case Step::kHour:
      return HourStart::of(time).ms;
    case Step::kDay:
      return floor_div(time, kDayMs) * kDayMs;
    case Step::kMonth:
      break;
  }
  const year_month_day date = date_of(time);
  return to_ms(date.year() / date.month() / 1);
}

EpochMs next_step(EpochMs start, Step step) {
  switch (step) {
    case Step::kHour:
      return start + kHourMs;
    case Step::kDay:
      return start + kDayMs;
    case Step::kMonth:
      break;
  }
  return to_ms(date_of(start) + months(1));
}

Result<NamedTime> parse_named_time(std::string_view text, EpochMs now) {
  if (text == "now") return NamedTime{now, now};
  if (text.starts_with('-')) {
    const auto ago = parse_duration_ms(text.substr(1));
    if (!ago) return no_time(text);
    return NamedTime{now - *ago, now - *ago};
  }
  if (text.find_first_not_of("0123456789") == std::string_view::npos) {
    constexpr std::size_t kDigitsOfSeconds = 10;
    if (text.size() == kDigitsOfSeconds) {
      return refused(quoted(text) +
                     " looks like seconds: epoch times are in milliseconds, three digits longer");
    }
    if (const auto moment = parse_epoch(text)) return NamedTime{*moment, *moment};
    return no_time(text);
  }
  if (const auto time = parse_date(text)) return *time;
  return no_time(text);
}

Result<HourRange> parse_range(std::string_view from, std::string_view to, Step step, EpochMs now) {
  HourRange range;
  if (!from.empty() && from != "all") {
    const auto time = parse_named_time(from, now);
    if (!time) return refused("--from: " + time.error().message);
    range.from = start_hour(time->begin, step);
  }
  if (!to.empty() && to != "all") {
    const auto time = parse_named_time(to, now);
    if (!time) return refused("--to: " + time.error().message);
    range.to = end_hour(time->end, step);
  }
  if (range.from >= range.to)
    return refused("there are no hours between --from " + quoted(from) + " and --to " + quoted(to));
  return range;
}

}  // namespace hourfold
