#include "core/table_meta.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace hourfold;

TEST_CASE("a table's description reads back") {
  for (const RowLayout layout : {RowLayout::kWide, RowLayout::kPacked}) {
    const auto back = read_description(describe({128, layout, 1}));
    REQUIRE(back.has_value());
    CHECK(back->buckets == 128);
    CHECK(back->layout == layout);
    CHECK(back->version == 1);
  }
}

TEST_CASE("a description with a part missing or senseless is none") {
  const std::map<std::string, std::string> good = describe({32, RowLayout::kWide, 1});
  for (const auto& [name, text] : good) {
    for (const char* const bad : {"", "0", "-1", "129x", "tall", "99999999999"}) {
      auto changed = good;
      changed[name] = bad;
      CHECK_FALSE(read_description(changed));
    }
    auto without = good;
    without.erase(name);
    CHECK_FALSE(read_description(without));
  }
  auto many = good;
  many["buckets"] = "129";
  CHECK_FALSE(read_description(many));
}

TEST_CASE("golden meta row") {
  const RowPut row = new_meta_row({32, RowLayout::kWide, 1}, 1'767'225'601'999);
  CHECK(row.key() == std::string("\xffhourfold"));
  CHECK(row.timestamp() == 1'767'225'601'999);
  std::map<std::string, std::string> texts;
  for (std::size_t i = 0; i < row.cell_count(); ++i) {
    CHECK(row.cell(i).family == 'm');
    texts[std::string(row.cell(i).qualifier)] = row.cell(i).value;
  }
  const std::map<std::string, std::string> expected = {{"buckets", "32"},
                                                       {"layout", "wide"},
                                                       {"version", "1"},
                                                       {"generation", "0"},
                                                       {"created", "2026-01-01T00:00:01Z"}};
  CHECK(texts == expected);
}
