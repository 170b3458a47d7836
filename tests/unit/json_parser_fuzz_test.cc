// The parser against input that nobody wrote: it never reads beyond the value (run under AddressSanitizer),
// answers the same whatever lies behind the value, and tells sound JSON from broken as a naive reader of RFC
// 8259 does.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "payload/json_parser.h"
#include "tests/unit/parsed_record_text.h"

namespace hourfold {
namespace {

using namespace std::string_view_literals;
using Random = std::mt19937;

std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

const std::string kRecord =
    "{\"device\":\"dev-00000042\",\"ts\":1767225600123,\"seq\":3,\"metrics\":{\"temp_c\":21.5,\"acc\":{\"x\":"
    "-1e-3}},"
    "\"tags\":[\"line-1\",null,true]}\n"
    "{\"device\":\"d\\u00e9\\ud83d\\ude00\",\"ts\":1767225600124.75,\"metrics\":{\"t\":0,\"t\":"
    "12345678901234567890,\"s\":\"x\"}}\n"
    "[{\"device\":7,\"ts\":1,\"metrics\":{}},{\"device\":\"\xc3\xa9\",\"ts\":1,\"metrics\":{\"n\":NaN,\"m\":"
    "1}}]\n";

void check_invariants(const ParsedRecord& record) {
  REQUIRE(!record.readings.empty());
  for (const ParsedReading& reading : record.readings) {
    if (reading.malformed != Malformed::kNone) {
      REQUIRE(reading.metric_count == 0);
      continue;
    }
    REQUIRE(!reading.device.empty());
    REQUIRE(reading.device.size() <= kMaxDeviceBytes);
    REQUIRE(reading.event_ms >= 0);
    REQUIRE(reading.event_ms <= kMaxEventMs);
    std::vector<std::string_view> names;
    for (const Metric& metric : record.metrics_of(reading)) {
      REQUIRE(std::isfinite(metric.value));
      REQUIRE(!metric.name.empty());
      REQUIRE(metric.name.size() <= kMaxMetricNameBytes);
      names.push_back(metric.name);
    }
    std::sort(names.begin(), names.end());
    REQUIRE(std::adjacent_find(names.begin(), names.end()) == names.end());
  }
}

// In memory of exactly its size, and in front of bytes that would change its meaning.
std::string parse_twice(JsonParser& parser, std::string_view value) {
  const auto exact = std::make_unique<char[]>(value.size());
  std::copy(value.begin(), value.end(), exact.get());
  const ParsedRecord& record = parser.parse({{exact.get(), value.size()}, std::nullopt, 1});
  check_invariants(record);
  std::string outcome = describe(record);

  const std::string longer = std::string(value) + "1]}\"" + std::string(100, '{');
  const std::string second =
      describe(parser.parse({std::string_view(longer).substr(0, value.size()), std::nullopt, 1}));
  REQUIRE(outcome == second);
  return outcome;
}

TEST_CASE("every prefix of a record of lines") {
  JsonParser parser{ReadingShape{}};
  for (std::size_t size = 0; size <= kRecord.size(); ++size) {
    CAPTURE(size);
    const std::string prefix = kRecord.substr(0, size);
    const std::string outcome = parse_twice(parser, prefix);
    const std::size_t end = prefix.rfind('\n');
    const std::string whole_lines = end == std::string::npos ? "" : prefix.substr(0, end + 1);
    const std::string rest = prefix.substr(whole_lines.size());
    if (whole_lines.empty() || rest.empty()) continue;
    const std::string alone = describe(parser.parse({rest, std::nullopt, 1}));
    const std::size_t readings = parser.parse({whole_lines, std::nullopt, 1}).readings.size();
    const std::size_t more = parser.parse({rest, std::nullopt, 1}).readings.size();
    CAPTURE(alone);
    CHECK(parser.parse({prefix, std::nullopt, 1}).readings.size() == readings + more);
    CHECK(outcome.starts_with("dev-00000042@1767225600123 "));
  }
}

TEST_CASE("random changes of bytes") {
  Random random(20'260'101);
  JsonParser parser{ReadingShape{}};
  constexpr std::string_view kBytes =
      "{}[]\",:\\\n\r\t \0\x7f\x80\xc3\xff"
      "0123456789.eE+-unIN"sv;
  for (int round = 0; round < 20'000; ++round) {
    std::string value = kRecord;
    for (std::size_t changes = 1 + below(random, 4); changes > 0; --changes) {
      const std::size_t at = below(random, value.size());
      const char byte =
          below(random, 4) == 0 ? static_cast<char>(random() & 0xff) : kBytes[below(random, kBytes.size())];
      switch (below(random, 3)) {
        case 0:
          value[at] = byte;
          break;
        case 1:
          value.insert(at, 1, byte);
          break;
        default:
          value.erase(at, 1 + below(random, 8));
          break;
      }
    }
    parse_twice(parser, value);
  }
}

// RFC 8259 to the letter, for ASCII; each function moves `at` behind what it reads, or throws.
class NaiveReader {
 public:
  explicit NaiveReader(std::string_view text) : text_(text) {}

  // A single value, or objects and arrays in a row.
  bool is_sound_record() {
    try {
      space();
      const bool scalar = at() != '{' && at() != '[';
      value();
      space();
      while (!scalar && next_ < text_.size()) {
        if (at() != '{' && at() != '[') return false;
        value();
        space();
      }
      return next_ == text_.size();
    } catch (const Broken&) {
      return false;
    }
  }

 private:
  struct Broken {};

  char at() const { return next_ < text_.size() ? text_[next_] : '\0'; }
  void require(bool condition) const {
    if (!condition) throw Broken();
  }
  void take(char c) {
    require(at() == c);
    ++next_;
  }
  void space() {
    while (at() == ' ' || at() == '\t' || at() == '\n' || at() == '\r') ++next_;
  }
  void word(std::string_view literal) {
    require(text_.substr(next_).starts_with(literal));
    next_ += literal.size();
  }
  void value() {
    switch (at()) {
      case '{':
        return list('}', true);
      case '[':
        return list(']', false);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }
  void list(char end, bool keys) {
    ++next_;
    space();
    for (bool more = at() != end; more;) {
      space();
      if (keys) {
        string();
        space();
        take(':');
        space();
      }
      value();
      space();
      more = at() == ',';
      if (more) ++next_;
    }
    take(end);
  }
  void string() {
    take('"');
    while (at() != '"') {
      require(next_ < text_.size() && static_cast<unsigned char>(at()) >= 0x20);
      if (text_[next_++] == '\\') escape();
    }
    ++next_;
  }
  void escape() {
    const char kind = at();
    require(next_ < text_.size() && std::strchr("\"\\/bfnrtu", kind) != nullptr && kind != '\0');
    ++next_;
    if (kind != 'u') return;
    const unsigned high = hex();
    require(high < 0xdc00 || high > 0xdfff);
    if (high < 0xd800 || high > 0xdbff) return;
    take('\\');
    take('u');
    const unsigned low = hex();
    require(low >= 0xdc00 && low <= 0xdfff);
  }
  unsigned hex() {
    unsigned unit = 0;
    for (int i = 0; i < 4; ++i, ++next_) {
      const char* const digits = "0123456789abcdef0123456789ABCDEF";
      const char* const found = at() == '\0' ? nullptr : std::strchr(digits, at());
      require(found != nullptr);
      unit = unit * 16 + static_cast<unsigned>((found - digits) % 16);
    }
    return unit;
  }
  void digits() {
    require(at() >= '0' && at() <= '9');
    while (at() >= '0' && at() <= '9') ++next_;
  }
  void number() {
    if (at() == '-') ++next_;
    if (at() == '0') {
      ++next_;
    } else {
      digits();
    }
    if (at() == '.') {
      ++next_;
      digits();
    }
    if (at() != 'e' && at() != 'E') return;
    ++next_;
    if (at() == '+' || at() == '-') ++next_;
    digits();
  }

  std::string_view text_;
  std::size_t next_ = 0;
};

std::string random_value(Random& random, int depth) {
  static constexpr const char* kScalars[] = {
      "1", "-0.5e+7", "true",   "false", "null", "\"\"", "\"a\"", "\"\\u0041\\\\\"", "\"\\ud83d\\ude00\"",
      "0", "1e5",     "\" , \""};
  if (depth == 0 || below(random, 3) == 0) return kScalars[below(random, std::size(kScalars))];
  const bool keys = below(random, 2) == 0;
  std::string text(1, keys ? '{' : '[');
  for (std::size_t members = below(random, 4); members > 0; --members) {
    if (text.size() > 1) text += below(random, 4) == 0 ? " ,\t" : ",";
    if (keys) text += below(random, 4) == 0 ? "\"k\" : " : "\"k\":";
    text += random_value(random, depth - 1);
  }
  return text + (keys ? '}' : ']');
}

TEST_CASE("sound and broken as a naive reader tells them") {
  Random random(8259);
  JsonParser parser{ReadingShape{}};
  constexpr std::string_view kAlphabet("{}[]\",:\\ \t0123456789.eE+-truefalsn/u\x0c\x1a\x01'#");
  int sound = 0;
  for (int round = 0; round < 40'000; ++round) {
    std::string value = random_value(random, 4);
    for (std::size_t changes = below(random, 3); changes > 0; --changes) {
      const std::size_t at = below(random, value.size() + 1);
      if (below(random, 2) == 0 && at < value.size())
        value.erase(at, 1);
      else
        value.insert(at, 1, kAlphabet[below(random, kAlphabet.size())]);
    }
    const std::string text = R"({"device":"d","u":)" + value + R"(,"ts":5,"metrics":{"t":1}})";
    CAPTURE(text);
    const bool expected = NaiveReader(text).is_sound_record();
    sound += expected ? 1 : 0;
    REQUIRE((parse_twice(parser, text) != "!bad_json") == expected);
    if (!value.empty() && value.find_first_not_of(" \t") != std::string::npos) {
      REQUIRE((parse_twice(parser, value) != "!bad_json") == NaiveReader(value).is_sound_record());
    }
  }
  CHECK(sound > 10'000);
  CHECK(sound < 35'000);
}

}  // namespace
}  // namespace hourfold
