// What the readings of a fleet have in common, learned from one of them: the bytes between the values. A
// record that has the same bytes there is read in one pass over it, without looking for its structure.
//
// Invariant: whatever a template reads, JsonParser reads the same way; what it does not read is left to that.
// It knows
//            one object with a device, a time and metrics in flat objects, whose values are plain: short
//            numbers without exponent, whole numbers as times, texts of ASCII without escapes. Everything
//            else in the record, white space included, must be as it was.
// Ownership:  names are the template's, devices point into the record.
// Threads:    one thread per template.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reading.h"
#include "payload/event_time.h"
#include "payload/json_tokens.h"
#include "payload/pointer_tree.h"

namespace hourfold {

class JsonTemplate {
 public:
  // From a record that was read as one reading, with its tokens. Null if it is not of the kind.
  static std::unique_ptr<JsonTemplate> learn(std::string_view text, JsonTokens& tokens,
                                             const PointerTree& pointers, const ParsedRecord& parsed);

  struct Time {
    std::string_view token;  // a whole number, or what stands between quotes
    std::uint64_t whole = 0;
    bool is_text = false;
  };
  // Only those that the payload has.
  struct Fields {
    std::optional<std::string_view> device;
    std::optional<Time> time;
    std::optional<Time> arrival;
  };
  // False if the record is another one; fields and metrics are then unspecified.
  bool read(std::string_view text, Fields& fields, std::vector<Metric>& metrics) const;

 private:
  enum class Value : std::uint8_t { kDevice, kTime, kArrival, kMetric, kNumber, kText };
  struct Step;
  class Learner;

  struct Step {
    std::string literal;  // in front of the value
    Value value;
    bool is_text;
    std::string name;  // kMetric
  };
  struct Number {
    double real = 0;
    std::uint64_t whole = 0;
  };
  static const char* value_end(const Step& step, const char* value, const char* end, Number& number);

  JsonTemplate() = default;

  std::vector<Step> steps_;
  std::string end_;  // behind the last value
};

}  // namespace hourfold
