#include "kafka/read_position.h"

#include <doctest/doctest.h>

using namespace hourfold;
using kafka::ReadPosition;

namespace {

ReadPosition reading_from(std::int64_t next) {
  ReadPosition position;
  position.owned = position.reading = true;
  position.next = {next};
  position.settle();
  return position;
}

}  // namespace

TEST_CASE("the end of a partition moves the position over what is no record") {
  ReadPosition position = reading_from(0);
  CHECK(position.take({0}));
  CHECK(position.take({2}));
  CHECK_FALSE(position.take({2}));
  CHECK(position.reach({4}));
  CHECK(position.next == Offset{4});
  CHECK_FALSE(position.reach({4}));
  CHECK_FALSE(position.reach({3}));
  CHECK(position.take({4}));
  CHECK_FALSE(position.reach({5}));
}

TEST_CASE("an end says nothing where a record may have been missed") {
  SUBCASE("dropped while held") {
    ReadPosition position = reading_from(3);
    position.held = true;
    CHECK_FALSE(position.take({3}));
    CHECK_FALSE(position.reach({9}));
    position.held = false;
    CHECK_FALSE(position.reach({9}));
    position.settle();
    CHECK(position.reach({9}));
  }
  SUBCASE("a position that librdkafka has not been told yet") {
    ReadPosition position = reading_from(7);
    position.unsettle();
    CHECK_FALSE(position.reach({9}));
    CHECK_FALSE(position.take({7}));
    CHECK(position.next == Offset{7});
    position.settle();
    CHECK(position.reach({9}));
  }
  SUBCASE("a batch that could not be read") {
    ReadPosition position = reading_from(7);
    position.missed();
    CHECK_FALSE(position.reach({9}));
    CHECK(position.take({8}));
    CHECK_FALSE(position.reach({9 + 1}));
  }
  SUBCASE("not ours, or not reading") {
    ReadPosition position = reading_from(0);
    position.owned = false;
    CHECK_FALSE(position.reach({9}));
    position.owned = true;
    position.reading = false;
    CHECK_FALSE(position.reach({9}));
  }
}
