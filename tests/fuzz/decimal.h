// Decimal numbers as texts of digits: slow, exact, and so plain that they can be believed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hourfold::fuzz {

// (-1)^negative x 0.DIGITS x 10^point; no zero in front of the digits nor behind them. Zero has none.
class Decimal {
 public:
  // A number of RFC 8259; empty if it is none.
  static std::optional<Decimal> read(std::string_view text) {
    Decimal number;
    number.negative_ = take(text, "-");
    const std::string whole = take_digits(text);
    if (whole.empty() || (whole.size() > 1 && whole[0] == '0')) return std::nullopt;
    number.digits_ = whole;
    number.point_ = static_cast<std::int64_t>(whole.size());
    if (take(text, ".")) {
      const std::string fraction = take_digits(text);
      if (fraction.empty()) return std::nullopt;
      number.digits_ += fraction;
    }
    if (take(text, "e") || take(text, "E")) {
      const bool down = take(text, "-");
      if (!down) take(text, "+");
      std::string exponent = take_digits(text);
      if (exponent.empty()) return std::nullopt;
      exponent.erase(0, exponent.find_first_not_of('0'));
      // No input is long enough to bring a number with such an exponent back.
      const std::int64_t size = exponent.empty()       ? 0
                                : exponent.size() > 12 ? 1'000'000'000'000
                                                       : std::stoll(exponent);
      number.point_ += down ? -size : size;
    }
    if (!text.empty()) return std::nullopt;
    number.normalize();
    return number;
  }

  bool negative() const { return negative_; }
  bool zero() const { return digits_.empty(); }
  std::int64_t point() const { return point_; }

  Decimal magnitude() const {
    Decimal result = *this;
    result.negative_ = false;
    return result;
  }
  Decimal scaled(int power) const {
    Decimal result = *this;
    result.point_ += power;
    return result;
  }
  // Empty if it is 10^18 or more from zero.
  std::optional<std::int64_t> floor() const {
    if (zero()) return 0;
    if (point_ > 18) return std::nullopt;
    std::int64_t whole = 0;
    for (std::int64_t i = 0; i < point_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      whole = whole * 10 + (at < digits_.size() ? digits_[at] - '0' : 0);
    }
    if (!negative_) return whole;
    const bool more = point_ < static_cast<std::int64_t>(digits_.size());
    return -whole - (more ? 1 : 0);
  }
  bool floor_below(std::int64_t bound) const {
    const auto whole = floor();
    return whole && *whole < bound;
  }

 private:
  static bool take(std::string_view& text, std::string_view what) {
    const bool there = text.starts_with(what);
    if (there) text.remove_prefix(what.size());
    return there;
  }
  static std::string take_digits(std::string_view& text) {
    const std::string taken(text.substr(0, text.find_first_not_of("0123456789")));
    text.remove_prefix(taken.size());
    return taken;
  }
  void normalize() {
    const std::size_t zeros = std::min(digits_.find_first_not_of('0'), digits_.size());
    digits_.erase(0, zeros);
    point_ -= static_cast<std::int64_t>(zeros);
    while (!digits_.empty() && digits_.back() == '0') digits_.pop_back();
  }

  bool negative_ = false;
  std::string digits_;
  std::int64_t point_ = 0;
};

}  // namespace hourfold::fuzz
