#include "core/metric_schema.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/random.h"

using namespace hourfold;
using namespace hourfold::test;

namespace {

std::vector<Metric> metrics(const std::vector<std::string>& names) {
  std::vector<Metric> out;
  for (const std::string& name : names) out.push_back({name, 1.0});
  return out;
}

std::vector<Slot> slots(SlotMapper& mapper, const std::vector<std::string>& names, const SchemaPtr& schema) {
  const auto found = mapper.map(metrics(names), schema);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("a schema finds its names and no others") {
  SchemaPool pool;
  const SchemaPtr schema = pool.get({"a", "b", "ba", "\xc3\xa4"});
  CHECK(schema->find("a") == 0);
  CHECK(schema->find("ba") == 2);
  CHECK(schema->find("\xc3\xa4") == 3);
  for (const char* name : {"", "A", "aa", "c", "\xff"}) CHECK(schema->find(name) == kNoSlot);
}

TEST_CASE("equal sets of names are one object, as long as somebody has it") {
  SchemaPool pool;
  SchemaPtr schema = pool.get({"a", "b"});
  CHECK(pool.get({"a", "b"}) == schema);
  CHECK(pool.get({"a"}) != schema);
  // Names are not just run together.
  CHECK(pool.get({"ab"}) != schema);
  CHECK(pool.get({}) == pool.empty());
}

TEST_CASE("schemas that nobody uses are freed") {
  SchemaPool pool;
  const SchemaPtr kept = pool.get({"kept"});
  for (int i = 0; i < 10'000; ++i) (void)pool.get({"name" + std::to_string(i)});
  CHECK(pool.live() <= 2'048);
  CHECK(pool.get({"kept"}) == kept);
}

TEST_CASE("slots come in the order of the reading's names") {
  SchemaPool pool;
  SlotMapper mapper;
  const SchemaPtr schema = pool.get({"a", "b", "c"});
  CHECK(slots(mapper, {"c", "a", "b"}, schema) == std::vector<Slot>{2, 0, 1});
  CHECK(slots(mapper, {"c", "x", "b"}, schema) == std::vector<Slot>{2, kNoSlot, 1});
  CHECK(slots(mapper, {}, schema).empty());
  CHECK(slots(mapper, {"a"}, pool.empty()) == std::vector<Slot>{kNoSlot});
}

TEST_CASE("what the mapper remembers never answers for another sequence of names") {
  // The same first, last, count and total length: everything a quick hash looks at.
  SchemaPool pool;
  SlotMapper mapper;
  const SchemaPtr schema = pool.get({"a", "bc", "cb", "d", "e", "ee"});
  CHECK(slots(mapper, {"a", "bc", "d"}, schema) == std::vector<Slot>{0, 1, 3});
  CHECK(slots(mapper, {"a", "cb", "d"}, schema) == std::vector<Slot>{0, 2, 3});
  CHECK(slots(mapper, {"a", "e", "ee", "d"}, schema) == std::vector<Slot>{0, 4, 5, 3});
  CHECK(slots(mapper, {"a", "ee", "e", "d"}, schema) == std::vector<Slot>{0, 5, 4, 3});
}

TEST_CASE("mapping agrees with the schema whatever came before") {
  Random random(3);
  SchemaPool pool;
  SlotMapper mapper;
  const std::vector<std::string> names{"a", "aa", "ab", "b", "ba", "bb", "c", "ca"};
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> known;
    for (const std::string& name : names) {
      if (random.chance(.5)) known.push_back(name);
    }
    const SchemaPtr schema = pool.get(known);
    std::vector<std::string> asked = names;
    for (std::size_t i = asked.size(); i > 1; --i) std::swap(asked[i - 1], asked[random.below(i)]);
    asked.resize(random.below(5));
    std::vector<Slot> want;
    for (const std::string& name : asked) want.push_back(schema->find(name));
    REQUIRE(slots(mapper, asked, schema) == want);
  }
}
