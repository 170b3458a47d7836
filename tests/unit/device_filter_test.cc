#include "app/device_filter.h"

#include <doctest/doctest.h>

using namespace hourfold;

TEST_CASE("devices by name and by pattern") {
  struct Case {
    const char* filter;
    const char* device;
    bool takes;
  };
  const Case cases[] = {
      {"", "anything", true},
      {"a", "a", true},
      {"a", "ab", false},
      {"a,b", "b", true},
      {"a,,b", "b", true},
      {"a*", "a", true},
      {"a*", "abc", true},
      {"*c", "abc", true},
      {"*c", "abcd", false},
      {"a*c*e", "abcde", true},
      {"a*c*e", "abde", false},
      {"a?c", "abc", true},
      {"a?c", "ac", false},
      {"*ab", "aab", true},
      {"*a*b", "aXbXb", true},
      {"**", "", true},
      {"?", "", false},
      {"a\\*", "a*", true},
      {"a\\*", "ab", false},
      {"a\\,b", "a,b", true},
      {"a\\\\", "a\\", true},
      {"zähler-*", "zähler-7", true},
      {"*aaab", "aaaaaaaac", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.filter);
    CAPTURE(c.device);
    CHECK(DeviceFilter(c.filter).takes(c.device) == c.takes);
  }
  CHECK(DeviceFilter("").takes_all());
  CHECK(DeviceFilter("a,b").names() == std::vector<std::string>{"a", "b"});
  CHECK(DeviceFilter("a\\*").names() == std::vector<std::string>{"a*"});
  CHECK(DeviceFilter("a,b*").names().empty());
}
