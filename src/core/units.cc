#include <array>
#include <charconv>

#include "core/config.h"

namespace hourfold {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// A whole number and one of the units directly behind it; nothing that overflows.
template <std::size_t n>
std::optional<std::uint64_t> parse_with_unit(std::string_view text, const std::array<Unit, n>& units) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop == text.data()) return std::nullopt;
  const std::string_view name(stop, static_cast<std::size_t>(end - stop));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(number, unit.factor, &product) ||
        product > static_cast<std::uint64_t>(INT64_MAX))
      return std::nullopt;
    return product;
  }
  return std::nullopt;
}

constexpr std::array<Unit, 5> kTimes = {
    {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::array<Unit, 9> kSizes = {{{"", 1},
                                         {"B", 1},
                                         {"kB", 1'000},
                                         {"MB", 1'000'000},
                                         {"GB", 1'000'000'000},
                                         {"KiB", 1ULL << 10},
                                         {"MiB", 1ULL << 20},
                                         {"GiB", 1ULL << 30},
                                         {"TiB", 1ULL << 40}}};

}  // namespace

std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
  if (text == "0") return 0;
  const auto ms = parse_with_unit(text, kTimes);
  // Ten thousand years, so that sums of times never overflow.
  constexpr std::uint64_t kLongest = 10'000ULL * 366 * 86'400'000;
  if (!ms || *ms > kLongest) return std::nullopt;
  return static_cast<std::int64_t>(*ms);
}

std::string format_duration(std::int64_t ms) {
  for (std::size_t i = kTimes.size(); i-- > 0;) {
    const auto factor = static_cast<std::int64_t>(kTimes.at(i).factor);
    if (ms != 0 && ms % factor == 0) return std::to_string(ms / factor) + std::string(kTimes.at(i).name);
  }
  return "0";
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) { return parse_with_unit(text, kSizes); }

}  // namespace hourfold
