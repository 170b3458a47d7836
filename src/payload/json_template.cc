#include "payload/json_template.h"

#include <cstring>
#include <utility>

#include "core/same_bytes.h"
#include "payload/arena.h"
#include "payload/json_number.h"

namespace hourfold {
namespace {

using Index = JsonTokens::Index;
using Role = PointerTree::Role;

constexpr std::size_t kMaxSteps = 256;

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Eight bytes of a text, none of them a quote, a backslash, a control character or beyond ASCII.
bool all_plain(const char* p) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  // A high bit in has_zero(x) if a byte of x is zero; borrows only ever raise more of them.
  const auto has_zero = [](std::uint64_t x) { return (x - kOnes) & ~x & kHighs; };
  const std::uint64_t below_space = (bytes - kOnes * 0x20) & ~bytes;
  const std::uint64_t above_tilde = (bytes + kOnes) | bytes;
  return ((has_zero(bytes ^ kOnes * '"') | has_zero(bytes ^ kOnes * '\\') | below_space | above_tilde) &
          kHighs) == 0;
}

// Behind a text without escapes that begins at p, null if it is none.
const char* plain_text_end(const char* p, const char* end) {
  while (end - p >= 8 && all_plain(p)) p += 8;
  while (p != end) {
    const auto c = static_cast<unsigned char>(*p);
    if (c == '"') return p;
    if (c < 0x20 || c >= 0x7f || c == '\\') return nullptr;
    ++p;
  }
  return nullptr;
}

// Behind a whole number of at most 18 digits, which its value has place for; null if it is none.
const char* whole_number_end(const char* p, const char* end, std::uint64_t& value) {
  constexpr std::ptrdiff_t kMaxDigits = 18;
  const char* const begin = p;
  value = 0;
  for (; p != end && is_digit(*p); ++p) value = value * 10 + static_cast<unsigned char>(*p - '0');
  const bool leading_zero = p - begin > 1 && *begin == '0';
  return p == begin || leading_zero || p - begin > kMaxDigits ? nullptr : p;
}

}  // namespace

// Walks over the tokens of the record and cuts it at its values.
class JsonTemplate::Learner {
 public:
  Learner(std::string_view text, JsonTokens& tokens, std::vector<Step>& steps)
      : text_(text), tokens_(tokens), steps_(steps) {}

  // False if there is anything that a template cannot know.
  bool learn(const PointerTree& pointers) {
    if (!tokens_.plain() || tokens_.first(0) != '{') return false;
    const Index next = read_members(0, pointers.root());
    return next == tokens_.size() && metrics_once_;
  }
  std::string_view rest() const { return text_.substr(cut_); }

 private:
  static constexpr Index kNo = JsonTokens::kBroken;

  Index read_members(Index i, const PointerTree::Node& node) {
    const bool are_metrics = node.role == Role::kMetrics;
    if (are_metrics && std::exchange(metrics_once_, true)) return kNo;
    return tokens_.each_member(i, [&](std::string_view name, Index value) {
      const PointerTree::Node* const member = node.child(name, name_tag(name));
      if (member != nullptr) return read_field(*member, value);
      return are_metrics ? read_metric(name, value) : read_other(value);
    });
  }

  Index read_field(const PointerTree::Node& node, Index i) {
    switch (node.role) {
      case Role::kNone:
      case Role::kMetrics:
        return tokens_.first(i) == '{' ? read_members(i, node) : kNo;
      case Role::kDevice:
        return std::exchange(device_once_, true) || tokens_.first(i) != '"' ? kNo
                                                                            : cut(i, Value::kDevice, {});
      case Role::kTime:
        return std::exchange(time_once_, true) ? kNo : cut(i, Value::kTime, {});
      case Role::kArrival:
        return std::exchange(arrival_once_, true) ? kNo : cut(i, Value::kArrival, {});
      default:
        return kNo;
    }
  }

  // A null is no metric and stays one; everything else that is no number has to be counted.
  Index read_metric(std::string_view name, Index i) {
    if (tokens_.first(i) == 'n') return i + 1;
    return is_number(i) ? cut(i, Value::kMetric, name) : kNo;
  }

  // As deep as the parser went, which has a bound.
  Index read_other(Index i) {
    if (tokens_.first(i) == '"') return cut(i, Value::kText, {});
    if (is_number(i)) return cut(i, Value::kNumber, {});
    if (tokens_.first(i) == '[')
      return tokens_.each_element(i, [this](Index element) { return read_other(element); });
    if (tokens_.first(i) != '{') return i + 1;
    return tokens_.each_member(i, [this](std::string_view, Index value) { return read_other(value); });
  }

  bool is_number(Index i) const { return tokens_.first(i) == '-' || is_digit(tokens_.first(i)); }

  Index cut(Index i, Value value, std::string_view name) {
    if (steps_.size() == kMaxSteps) return kNo;
    const std::string_view token = tokens_.bytes(i);
    const bool text = token.front() == '"';
    const auto begin = static_cast<std::size_t>(token.data() - text_.data()) + (text ? 1 : 0);
    Step& step = steps_.emplace_back(
        Step{std::string(text_.substr(cut_, begin - cut_)), value, text, std::string(name)});
    step.name.reserve(name.size() + Arena::kSlack);
    cut_ = begin + token.size() - (text ? 2 : 0);
    return i + 1;
  }

  const std::string_view text_;
  JsonTokens& tokens_;
  std::vector<Step>& steps_;
  std::size_t cut_ = 0;  // what is in front of it is in a step
  bool metrics_once_ = false;
  bool device_once_ = false;
  bool time_once_ = false;
  bool arrival_once_ = false;
};

std::unique_ptr<JsonTemplate> JsonTemplate::learn(std::string_view text, JsonTokens& tokens,
                                                  const PointerTree& pointers, const ParsedRecord& parsed) {
  if (parsed.readings.size() != 1 || parsed.readings[0].malformed != Malformed::kNone) return nullptr;
  for (const std::uint32_t rejected : parsed.rejected_metrics) {
    if (rejected != 0) return nullptr;
  }
  std::unique_ptr<JsonTemplate> learned(new JsonTemplate);
  Learner learner(text, tokens, learned->steps_);
  if (!learner.learn(pointers)) return nullptr;
  learned->end_ = learner.rest();
  // The same names in the same order, none of them twice.
  std::size_t metrics = 0;
  for (const Step& step : learned->steps_) {
    if (step.value != Value::kMetric) continue;
    if (metrics == parsed.metrics.size() || parsed.metrics[metrics].name != step.name) return nullptr;
    ++metrics;
  }
  return metrics == parsed.metrics.size() ? std::move(learned) : nullptr;
}

// Behind the value, null if it is none of its kind. *end may be read: something ends the last value.
inline const char* JsonTemplate::value_end(const Step& step, const char* value, const char* end,
                                           Number& number) {
  if (step.is_text) return plain_text_end(value, end + 1);
  const bool is_time = step.value == Value::kTime || step.value == Value::kArrival;
  return is_time ? whole_number_end(value, end, number.whole) : scan_short_number(value, end, number.real);
}

bool JsonTemplate::read(std::string_view text, Fields& fields, std::vector<Metric>& metrics) const {
  if (!text.ends_with(end_)) return false;
  const char* p = text.data();
  const char* const end = p + text.size() - end_.size();
  metrics.clear();
  for (const Step& step : steps_) {
    const std::string& literal = step.literal;
    if (static_cast<std::size_t>(end - p) < literal.size() || !same_bytes(p, literal.data(), literal.size()))
      return false;
    const char* const value = p + literal.size();
    Number number;
    p = value_end(step, value, end, number);
    if (p == nullptr) return false;
    const std::string_view token(value, static_cast<std::size_t>(p - value));
    switch (step.value) {
      case Value::kMetric:
        metrics.push_back({step.name, number.real});
        break;
      case Value::kDevice:
        fields.device = token;
        break;
      case Value::kTime:
        fields.time = Time{token, number.whole, step.is_text};
        break;
      case Value::kArrival:
        fields.arrival = Time{token, number.whole, step.is_text};
        break;
      default:
        break;
    }
  }
  return p == end;
}

}  // namespace hourfold
