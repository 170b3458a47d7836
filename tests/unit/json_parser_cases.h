// Payloads for the tables of the parser's tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "payload/json_parser.h"
#include "tests/unit/parsed_record_text.h"

namespace hourfold {

inline constexpr EpochMs kArrival = 1'767'225'601'000;

struct Case {
  std::string text;
  std::string outcome;
};

inline std::string outcome_of(std::string_view value, const ReadingShape& shape = {},
                              std::optional<std::string_view> key = std::nullopt,
                              EpochMs record_time_ms = kArrival) {
  return describe(make_payload_parser(shape)->parse({value, key, record_time_ms}));
}

inline std::string with_metrics(const std::string& metrics) {
  return R"({"device":"d","ts":5,"metrics":)" + metrics + "}";
}
inline std::string with_value(const std::string& value) { return with_metrics(R"({"t":)" + value + "}"); }
inline std::string with_unused(const std::string& value) {
  return R"({"device":"d","u":)" + value + R"(,"ts":5,"metrics":{"t":1}})";
}
inline std::string with_device(const std::string& device) {
  return R"({"ts":5,"metrics":{"t":1},"device":)" + device + "}";
}
inline std::string with_time(const std::string& time) {
  return R"({"device":"d","ts":)" + time + R"(,"metrics":{"t":1}})";
}

inline const std::string kGood = with_metrics(R"({"t":1})");

inline std::string nested(int levels, char open, const std::string& core, char close) {
  return std::string(static_cast<std::size_t>(levels), open) + core +
         std::string(static_cast<std::size_t>(levels), close);
}

}  // namespace hourfold
