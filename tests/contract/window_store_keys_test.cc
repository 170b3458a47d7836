// Golden bytes of the state's keys: a directory written by one build is read by the next.
#include <doctest/doctest.h>

#include <cstdio>

#include "state/state_dir.h"
#include "state/state_keys.h"

namespace hourfold {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    text += two;
  }
  return text;
}

}  // namespace

TEST_CASE("golden bytes of keys and values") {
  namespace k = state_keys;
  const HourStart h = HourStart::of(1'767'225'600'123);
  CHECK(hex(k::format_key()) == "66");
  CHECK(k::format_value(1) == "hourfold-state 1");
  CHECK(hex(k::marks_key()) == "6d");
  CHECK(hex(k::window_key(h, "dev")) ==
        "77"
        "8000019b76daa800"
        "646576");
  CHECK(hex(k::pending_key(h, "dev")) ==
        "70"
        "8000019b76daa800"
        "646576");
  CHECK(hex(k::window_key({-kHourMs}, "d")) ==
        "77"
        "7fffffffffc91180"
        "64");
  CHECK(hex(k::hour_key(k::Kind::kWindow, HourStart::lowest())) ==
        "77"
        "0000000000000000");
  CHECK(hex(k::hour_key(k::Kind::kWindow, HourStart::highest())) ==
        "77"
        "ffffffffffffffff");
  CHECK(hex(k::waiting_key({Offset{258}, 3})) ==
        "71"
        "8000000000000102"
        "00000003");
  CHECK(hex(k::side_key({Offset{-1}, 0})) ==
        "73"
        "7fffffffffffffff"
        "00000000");
  CHECK(hex(k::offset_value({258})) == "8000000000000102");
}

TEST_CASE("keys read back, and foreign ones do not") {
  namespace k = state_keys;
  const std::string window = k::window_key({-7 * kHourMs}, "device");
  REQUIRE(k::read_hour_key(window));
  CHECK(k::read_hour_key(window)->hour == HourStart{-7 * kHourMs});
  CHECK(k::read_hour_key(window)->device == "device");
  CHECK(!k::read_hour_key("w1234567"));
  CHECK(k::read_position_key(k::side_key({Offset{9}, 4'000'000'000})) == Position{Offset{9}, 4'000'000'000});
  CHECK(!k::read_position_key("s"));
  CHECK(k::read_offset_value(k::offset_value({-1})) == Offset{-1});
  CHECK(!k::read_offset_value("123"));
  CHECK(k::read_format_value("hourfold-state 12") == 12);
  for (const char* text :
       {"", "hourfold-state", "hourfold-state ", "hourfold-state 1x", "hourfold-state -1", "other 1"}) {
    CHECK(!k::read_format_value(text));
  }
}

TEST_CASE("names become path components that cannot leave their directory") {
  CHECK(path_component("hourfold") == "hourfold");
  CHECK(path_component("a.b_c-9") == "a.b_c-9");
  CHECK(path_component("..") == "%2E.");
  CHECK(path_component("a/b c\xc3\xa4") == "a%2Fb%20c%C3%A4");
  CHECK(partition_dir("state", "g/1", "t", {3}) == "state/g%2F1/t/3");
}

}  // namespace hourfold
