#include "payload/json_template.h"

#include <cstring>
#include <utility>

#include "payload/arena.h"
#include "payload/json_number.h"

namespace hourfold {
namespace {

using Index = JsonTokens::Index;
using Role = PointerTree::Role;

constexpr std::size_t kMaxSteps = 256;

template <class Word>
bool same_word(const char* a, const char* b) {
  Word x;
  Word y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x == y;
}

// As memcmp() for equality, in place: literals are short, and a call for each is most of its work.
inline bool same_bytes(const char* a, const char* b, std::size_t size) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::size_t kHalf = sizeof(std::uint32_t);
  if (size >= kWord) {
    for (std::size_t i = 0; i + kWord <= size; i += kWord) {
      if (!same_word<std::uint64_t>(a + i, b + i)) return false;
    }
    return same_word<std::uint64_t>(a + size - kWord, b + size - kWord);
  }
  if (size >= kHalf)
    return same_word<std::uint32_t>(a, b) && same_word<std::uint32_t>(a + size - kHalf, b + size - kHalf);
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Behind a text without escapes that begins at p, null if it is none.
const char* plain_text_end(const char* p, const char* end) {
  while (p != end) {
    const auto c = static_cast<unsigned char>(*p);
    if (c == '"') return p;
    if (c < 0x20 || c >= 0x7f || c == '\\') return nullptr;
    ++p;
  }
  return nullptr;
}

const char* whole_number_end(const char* p, const char* end) {
  const char* const begin = p;
  while (p != end && is_digit(*p)) ++p;
  const bool leading_zero = p - begin > 1 && *begin == '0';
  return p == begin || leading_zero ? nullptr : p;
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
    return each_member(i, [&](std::string_view name, Index value) {
      const PointerTree::Node* const member = node.child(name, name_tag(name));
      if (member != nullptr) return read_field(*member, value);
      return are_metrics ? read_metric(name, value) : read_other(value);
    });
  }

  template <class Read>
  Index each_member(Index i, const Read& read) {
    ++i;
    bool more = tokens_.first(i) != '}';
    while (more) {
      std::string_view name;
      if (!tokens_.name(i, name)) return kNo;
      i = read(name, i + 2);
      if (i == kNo) return kNo;
      more = tokens_.first(i) == ',';
      if (more) ++i;
    }
    return tokens_.first(i) == '}' ? i + 1 : kNo;
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
    if (tokens_.first(i) == '[') return read_other_array(i + 1);
    if (tokens_.first(i) != '{') return i + 1;
    return each_member(i, [this](std::string_view, Index value) { return read_other(value); });
  }

  Index read_other_array(Index i) {
    if (tokens_.first(i) == ']') return i + 1;
    for (;;) {
      i = read_other(i);
      if (i == kNo) return kNo;
      const char end = tokens_.first(i++);
      if (end == ']') return i;
      if (end != ',') return kNo;
    }
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
                                           double& number) {
  if (step.is_text) return plain_text_end(value, end + 1);
  const bool is_time = step.value == Value::kTime || step.value == Value::kArrival;
  return is_time ? whole_number_end(value, end) : scan_short_number(value, end, number);
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
    double number = 0;
    p = value_end(step, value, end, number);
    if (p == nullptr) return false;
    const std::string_view token(value, static_cast<std::size_t>(p - value));
    switch (step.value) {
      case Value::kMetric:
        metrics.push_back({step.name, number});
        break;
      case Value::kDevice:
        fields.device = token;
        break;
      case Value::kTime:
        fields.time = {token, step.is_text};
        break;
      case Value::kArrival:
        fields.arrival = {token, step.is_text};
        break;
      default:
        break;
    }
  }
  return p == end;
}

}  // namespace hourfold
