#include "payload/event_time.h"

#include <array>

namespace hourfold {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr int kMinutesPerDay = 24 * 60;

// Days since 1970 of the proleptic Gregorian calendar, by counting in eras of 400 years that begin in March.
std::int64_t days_of(int year, int month, int day) {
  const int y = month <= 2 ? year - 1 : year;
  const int era = (y >= 0 ? y : y - 399) / 400;
  const int year_of_era = y - era * 400;
  const int day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return static_cast<std::int64_t>(era) * 146'097 + day_of_era - 719'468;
}

int days_in_month(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes what it expects off the front of a text, or fails for good.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int digits(std::size_t count) {
    if (rest_.size() < count) return broken();
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_digit(rest_[i])) return broken();
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  char one_of(std::string_view choices) {
    if (rest_.empty() || choices.find(rest_.front()) == std::string_view::npos) {
      broken();
      return '\0';
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  bool skip_if(char c) {
    const bool there = !rest_.empty() && rest_.front() == c;
    if (there) rest_.remove_prefix(1);
    return there;
  }
  bool at_end() const { return rest_.empty(); }
  bool at_digit() const { return !rest_.empty() && is_digit(rest_.front()); }
  bool sound() const { return sound_; }

 private:
  int broken() {
    sound_ = false;
    return 0;
  }
  std::string_view rest_;
  bool sound_ = true;
};

// Nanoseconds behind the point: 1 to 9 digits.
std::int64_t scan_fraction(Scanner& in) {
  constexpr int kMaxDigits = 9;
  std::int64_t nanos = in.digits(1);
  int count = 1;
  for (; count < kMaxDigits && in.at_digit(); ++count) nanos = nanos * 10 + in.digits(1);
  for (; count < kMaxDigits; ++count) nanos *= 10;
  return nanos;
}

// Minutes east of UTC; empty if the text names no zone at its end.
std::optional<int> scan_zone(Scanner& in) {
  if (in.at_end()) return std::nullopt;
  const char sign = in.one_of("Zz+-");
  if (sign == 'Z' || sign == 'z') return 0;
  const int hours = in.digits(2);
  const bool colon = in.skip_if(':');
  const int minutes = colon || !in.at_end() ? in.digits(2) : 0;
  if (hours > 23 || minutes > 59) in.one_of("");
  return (sign == '-' ? -1 : 1) * (hours * 60 + minutes);
}

struct Clock {
  int hour = 0, minute = 0, second = 0;
  std::int64_t nanos = 0;

  bool sound() const {
    if (hour == 24) return minute == 0 && second == 0 && nanos == 0;
    return hour < 24 && minute < 60 && second <= 60;
  }
  int minutes() const { return hour * 60 + minute; }
};

// A leap second is announced for the last second of a day in UTC.
bool is_leap_second_place(const Clock& clock, int zone_minutes) {
  const int utc = ((clock.minutes() - zone_minutes) % kMinutesPerDay + kMinutesPerDay) % kMinutesPerDay;
  return utc == kMinutesPerDay - 1;
}

TimeUnit unit_by_magnitude(std::string_view token) {
  const std::optional<std::int64_t> digits = whole_digit_count(token);
  if (!digits || *digits <= 11) return TimeUnit::kSeconds;
  if (*digits <= 14) return TimeUnit::kMs;
  return *digits <= 17 ? TimeUnit::kUs : TimeUnit::kNs;
}

// Powers of ten from the unit to milliseconds.
int shift_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return 3;
    case TimeUnit::kUs:
      return -3;
    case TimeUnit::kNs:
      return -6;
    default:
      return 0;
  }
}

}  // namespace

ParsedTime parse_epoch(std::string_view token, TimeUnit unit) {
  if (unit == TimeUnit::kMs) return parse_epoch_ms(token);
  if (unit == TimeUnit::kRfc3339) {
    return {is_json_number(token) ? Malformed::kBadTime : Malformed::kBadJson, 0};
  }
  return parse_scaled_ms(token, shift_of(unit == TimeUnit::kAuto ? unit_by_magnitude(token) : unit));
}

ParsedTime parse_rfc3339(std::string_view text, std::optional<int> zone_minutes) {
  constexpr ParsedTime kBroken{Malformed::kBadTime, 0};
  Scanner in(text);
  const int year = in.digits(4);
  in.one_of("-");
  const int month = in.digits(2);
  in.one_of("-");
  const int day = in.digits(2);
  in.one_of("Tt ");
  Clock clock;
  clock.hour = in.digits(2);
  in.one_of(":");
  clock.minute = in.digits(2);
  in.one_of(":");
  clock.second = in.digits(2);
  if (in.skip_if('.') || in.skip_if(',')) clock.nanos = scan_fraction(in);
  const std::optional<int> zone = scan_zone(in);
  if (zone) zone_minutes = zone;
  if (!in.sound() || !in.at_end() || !zone_minutes) return kBroken;
  if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || !clock.sound())
    return kBroken;
  if (clock.second == 60 && !is_leap_second_place(clock, *zone_minutes)) return kBroken;
  const std::int64_t seconds =
      days_of(year, month, day) * kSecondsPerDay + (clock.minutes() - *zone_minutes) * 60 + clock.second;
  const EpochMs ms = seconds * 1000 + clock.nanos / 1'000'000;
  if (ms < 0 || ms > kMaxEventMs) return kBroken;
  return {Malformed::kNone, ms};
}

TimeField TimeFormat::text(std::string_view text) const {
  const bool dated = text.size() > 4 && text[4] == '-';
  if (unit_ == TimeUnit::kRfc3339 || (unit_ == TimeUnit::kAuto && dated)) {
    const ParsedTime time = parse_rfc3339(text, zone_minutes_);
    return {time.reason, time.ms};
  }
  if (!strings_ && unit_ != TimeUnit::kAuto) return {Malformed::kBadTime, 0};
  const TimeField field = number(text);
  return {field.reason == Malformed::kNone ? Malformed::kNone : Malformed::kBadTime, field.ms};
}

Seconds operator+(Seconds a, Seconds b) {
  Seconds sum{a.whole + b.whole, a.nanos + b.nanos};
  if (sum.nanos >= kNanosPerSecond) {
    sum.nanos -= kNanosPerSecond;
    ++sum.whole;
  }
  return sum;
}

std::optional<Seconds> parse_seconds(std::string_view token) {
  const auto parts = parse_decimal_floor(token, 9);
  if (!parts) return std::nullopt;
  return Seconds{parts->whole, parts->fraction};
}

}  // namespace hourfold
