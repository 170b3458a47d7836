// Points in time against a slow reader of decimal digits, and one of RFC 3339 that counts days one month at a
// time.
//
// An input is a letter that chooses the reader, and the text.
#include <algorithm>
#include <optional>

#include "payload/event_time.h"
#include "tests/fuzz/decimal.h"
#include "tests/fuzz/fuzz.h"

namespace hourfold::fuzz {
namespace {

// Decimal powers from the unit to milliseconds.
int shift_of(TimeUnit unit) {
  if (unit == TimeUnit::kSeconds) return 3;
  if (unit == TimeUnit::kUs) return -3;
  return unit == TimeUnit::kNs ? -6 : 0;
}

ParsedTime slow_epoch(std::string_view token, TimeUnit unit) {
  const std::optional<Decimal> number = Decimal::read(token);
  if (!number) return {Malformed::kBadJson, 0};
  if (unit == TimeUnit::kRfc3339) return {Malformed::kBadTime, 0};
  if (unit == TimeUnit::kAuto) {
    const Decimal size = number->magnitude();
    unit = size.floor_below(100'000'000'000)           ? TimeUnit::kSeconds
           : size.floor_below(100'000'000'000'000)     ? TimeUnit::kMs
           : size.floor_below(100'000'000'000'000'000) ? TimeUnit::kUs
                                                       : TimeUnit::kNs;
  }
  const std::optional<std::int64_t> ms = number->scaled(shift_of(unit)).floor();
  if (!ms || *ms < 0 || *ms > kMaxEventMs) return {Malformed::kBadTime, 0};
  return {Malformed::kNone, *ms};
}

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in(int year, int month) {
  if (month == 2) return is_leap(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Digits where the pattern has a 9, else the very character; n the value of each run of nines.
bool fits(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == '9' ? !digit : text[i] != pattern[i]) return false;
  }
  return true;
}

int value(std::string_view digits) {
  int sum = 0;
  for (const char c : digits) sum = sum * 10 + (c - '0');
  return sum;
}

// Of a text behind the seconds: minutes east, or nothing for none; false if broken.
bool read_zone(std::string_view text, std::optional<int>& minutes) {
  if (text.empty()) return true;
  if (text == "Z" || text == "z") {
    minutes = 0;
    return true;
  }
  if (text.front() != '+' && text.front() != '-') return false;
  const std::string_view offset = text.substr(1);
  if (!fits(offset, "99") && !fits(offset, "9999") && !fits(offset, "99:99")) return false;
  const int hour = value(offset.substr(0, 2));
  const int minute = offset.size() == 2 ? 0 : value(offset.substr(offset.size() - 2));
  minutes = (text.front() == '-' ? -1 : 1) * (hour * 60 + minute);
  return hour < 24 && minute < 60;
}

ParsedTime slow_rfc3339(std::string_view text, std::optional<int> zone) {
  constexpr ParsedTime kBroken{Malformed::kBadTime, 0};
  std::string head(text.substr(0, 19));
  if (head.size() > 10 && (head[10] == 't' || head[10] == ' ')) head[10] = 'T';
  if (!fits(head, "9999-99-99T99:99:99")) return kBroken;
  std::string_view tail = text.substr(19);
  int ms = 0;
  bool fraction = false;
  if (tail.starts_with('.') || tail.starts_with(',')) {
    const std::size_t end = std::min(tail.find_first_not_of("0123456789", 1), tail.size());
    std::string digits(tail.substr(1, end - 1));
    if (digits.empty() || digits.size() > 9) return kBroken;
    fraction = digits.find_first_not_of('0') != std::string::npos;
    digits.resize(3, '0');
    ms = value(digits);
    tail.remove_prefix(end);
  }
  if (!read_zone(tail, zone) || !zone) return kBroken;
  const int year = value(head.substr(0, 4));
  const int month = value(head.substr(5, 2));
  const int day = value(head.substr(8, 2));
  const int hour = value(head.substr(11, 2));
  const int minute = value(head.substr(14, 2));
  const int second = value(head.substr(17, 2));
  if (month < 1 || month > 12 || day < 1 || day > days_in(year, month)) return kBroken;
  const bool midnight = hour == 24 && minute == 0 && second == 0 && !fraction;
  if ((hour > 23 && !midnight) || minute > 59 || second > 60) return kBroken;
  std::int64_t days = day - 1;
  for (int y = 1970; y < year; ++y) days += is_leap(y) ? 366 : 365;
  for (int y = year; y < 1970; ++y) days -= is_leap(y) ? 366 : 365;
  for (int m = 1; m < month; ++m) days += days_in(year, m);
  const std::int64_t utc_minutes = days * 1440 + hour * 60 + minute - *zone;
  if (second == 60 && ((utc_minutes % 1440) + 1440) % 1440 != 1439) return kBroken;
  const std::int64_t result = (utc_minutes * 60 + second) * 1000 + ms;
  if (result < 0 || result > kMaxEventMs) return kBroken;
  return {Malformed::kNone, result};
}

void require_same(const ParsedTime& time, const ParsedTime& expected, std::string_view text) {
  if (time.reason == expected.reason && (time.reason != Malformed::kNone || time.ms == expected.ms)) return;
  finding(std::string(to_string(expected.reason)) + " " + std::to_string(expected.ms) + " of " +
              std::string(text),
          std::string(to_string(time.reason)) + " " + std::to_string(time.ms));
}

}  // namespace

void try_input(std::string_view bytes) {
  constexpr TimeUnit kUnits[] = {TimeUnit::kSeconds, TimeUnit::kMs,      TimeUnit::kUs,
                                 TimeUnit::kNs,      TimeUnit::kRfc3339, TimeUnit::kAuto};
  Input input(bytes);
  const std::size_t choice = input.letter(9);
  const Exact text(input.rest());
  if (choice < std::size(kUnits)) {
    const ParsedTime time = parse_epoch(text.view(), kUnits[choice]);
    require_same(time, slow_epoch(text.view(), kUnits[choice]), text.view());
    return;
  }
  constexpr std::optional<int> kZones[] = {std::nullopt, 0, -210};
  const std::optional<int> zone = kZones[choice - std::size(kUnits)];
  require_same(parse_rfc3339(text.view(), zone), slow_rfc3339(text.view(), zone), text.view());
}

}  // namespace hourfold::fuzz
