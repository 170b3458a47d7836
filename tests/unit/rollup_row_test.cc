// Golden bytes of the rollup row. They are what every reader of the table relies on; computed independently
// (Python's struct, MurmurHash3's published vectors), never by this program.
#include "core/rollup_row.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/murmur3.h"
#include "core/reading.h"

using namespace hourfold;

namespace {

std::string hex(std::string_view bytes) {
  static const char* digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out.push_back(digits[static_cast<unsigned char>(c) >> 4]);
    out.push_back(digits[static_cast<unsigned char>(c) & 15]);
  }
  return out;
}

constexpr HourStart kHour{1'767'225'600'000};  // 2026-01-01T00:00:00Z

}  // namespace

TEST_CASE("murmur3_32 agrees with its published vectors") {
  CHECK(murmur3_32("") == 0U);
  CHECK(murmur3_32("", 1) == 0x514e28b7U);
  CHECK(murmur3_32("hello") == 0x248bfa47U);
  CHECK(murmur3_32("Hello, world!", 0x9747b28cU) == 0x24884cbaU);
  CHECK(murmur3_32("a") == 0x3c2569b2U);
  CHECK(murmur3_32("ab") == 0x9bbfd75fU);
  CHECK(murmur3_32("abc") == 0xb3dd93faU);
  CHECK(murmur3_32("abcd") == 0x43ed676aU);
  CHECK(murmur3_32("dev-00000042") == 0xbe635a6eU);
  CHECK(murmur3_32("ger\xc3\xa4t-7") == 0x2f830b21U);
  CHECK(murmur3_32(std::string(256, 'x')) == 0x4265ab42U);
}

TEST_CASE("the salt is the hash modulo the buckets, unsigned") {
  CHECK(salt_of("dev-00000042", 32) == 14);
  CHECK(salt_of("dev-00000042", 128) == 110);
  CHECK(salt_of("dev-00000042", 1) == 0);
  CHECK(salt_of("abc", 32) == 26);
}

TEST_CASE("golden row key") {
  CHECK(hex(row_key("dev-00000042", kHour, 32)) == "0e6465762d3030303030303432000000019b76daa800");
  CHECK(hex(meta_row_key()) == "ff686f7572666f6c64");
}

TEST_CASE("a row key splits into what it was made of") {
  for (const std::string& device :
       {std::string("d"), std::string("dev-00000042"), std::string(256, 'x'), std::string("\xc3\xa4 b")}) {
    for (const HourStart hour : {HourStart{0}, kHour, HourStart{253'402'297'200'000}}) {
      const std::string key = row_key(device, hour, 32);
      const auto parts = split_row_key(key);
      REQUIRE(parts.has_value());
      CHECK(parts->salt == salt_of(device, 32));
      CHECK(parts->device == device);
      CHECK(parts->hour == hour);
    }
  }
}

TEST_CASE("the hours of a device lie in time order, one beside the other") {
  CHECK(row_key("dev", HourStart{0}, 32) < row_key("dev", HourStart{kHourMs}, 32));
  CHECK(row_key("dev", HourStart{kHourMs * 255}, 32) < row_key("dev", HourStart{kHourMs * 256}, 32));
  CHECK(row_key("dev", HourStart{253'402'297'200'000}, 1) < row_key("dev2", HourStart{0}, 1));
}

TEST_CASE("strangers' keys are no rollup rows") {
  CHECK_FALSE(split_row_key(meta_row_key()));
  CHECK_FALSE(split_row_key(""));
  CHECK_FALSE(split_row_key("some other application's row"));
  CHECK_FALSE(split_row_key(row_key("", kHour, 32)));
  std::string key = row_key("dev", kHour, 32);
  CHECK_FALSE(split_row_key(key + "x"));
  key.back() = 1;  // not on the hour
  CHECK_FALSE(split_row_key(key));
  key = row_key("dev", kHour, 32);
  key[0] = static_cast<char>(0x80);
  CHECK_FALSE(split_row_key(key));
  CHECK_FALSE(split_row_key(row_key(std::string("a\0b", 3), kHour, 32)));
  for (const EpochMs hour :
       {-kHourMs, kMaxEventMs + 1, std::numeric_limits<EpochMs>::max() / kHourMs * kHourMs})
    CHECK_FALSE(split_row_key(row_key("dev", HourStart{hour}, 32)));
}

TEST_CASE("a timestamp that is not ours is of some generation") {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();
  CHECK(split_cell_timestamp(Limits::max(), kHour).generation == Generation{kLast});
  CHECK(split_cell_timestamp(Limits::min() + kHourMs, kHour).generation < Generation{-kLast});
  CHECK(split_cell_timestamp(0, kHour).generation < Generation{0});
  CHECK(split_cell_timestamp(-1, HourStart{0}).generation == Generation{-1});
  CHECK(split_cell_timestamp(-1, HourStart{0}).revision == kMaxRevision);
}

TEST_CASE("the cell timestamp grows with revision and generation") {
  CHECK(cell_timestamp(kHour, Generation{0}, Revision{0}) == 1'767'225'600'000);
  CHECK(cell_timestamp(kHour, Generation{0}, Revision{70}) == 1'767'225'600'070);
  CHECK(cell_timestamp(kHour, Generation{2}, Revision{1}) == 1'767'232'800'001);
  CHECK(cell_timestamp(kHour, Generation{0}, kMaxRevision) <
        cell_timestamp(kHour, Generation{1}, Revision{0}));
  for (const Generation generation : {Generation{0}, Generation{1}, Generation{9000}}) {
    for (const Revision revision : {Revision{0}, Revision{1}, kMaxRevision}) {
      const CellStamp stamp = split_cell_timestamp(cell_timestamp(kHour, generation, revision), kHour);
      CHECK(stamp.generation == generation);
      CHECK(stamp.revision == revision);
    }
  }
}

TEST_CASE("golden cells, wide") {
  RowPut put(row_key("dev", kHour, 32), 1);
  add_rollup_cells(put, "temp_c", {-40.25, 21.5, -18.75, 3}, RowLayout::kWide);
  REQUIRE(put.cell_count() == 4);
  const std::pair<const char*, const char*> expected[] = {{"temp_c:min", "c044200000000000"},
                                                          {"temp_c:max", "4035800000000000"},
                                                          {"temp_c:sum", "c032c00000000000"},
                                                          {"temp_c:count", "0000000000000003"}};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(put.cell(i).family == 'r');
    CHECK(put.cell(i).qualifier == expected[i].first);
    CHECK(hex(put.cell(i).value) == expected[i].second);
  }
}

TEST_CASE("golden cells, packed") {
  RowPut put(row_key("dev", kHour, 32), 1);
  add_rollup_cells(put, "temp_c", {-40.25, 21.5, -18.75, 3}, RowLayout::kPacked);
  REQUIRE(put.cell_count() == 1);
  CHECK(put.cell(0).qualifier == "temp_c");
  CHECK(hex(put.cell(0).value) == "c0442000000000004035800000000000c032c000000000000000000000000003");
}

TEST_CASE("cells read back as the rollup they were made of, to the bit") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Rollup rollups[] = {{-40.25, 21.5, -18.75, 3},
                            {-0.0, 0.0, -0.0, 2},
                            {-1e308, 1e308, infinity, std::int64_t{1} << 40},
                            {5e-324, 5e-324, 5e-324, 1}};
  for (const RowLayout layout : {RowLayout::kWide, RowLayout::kPacked}) {
    for (const char* const name : {"temp_c", "a:b", ":min", "x:count", "\xc3\xa4"}) {
      for (const Rollup& rollup : rollups) {
        RowPut put("k", 1);
        add_rollup_cells(put, name, rollup, layout);
        Rollup back;
        for (std::size_t i = 0; i < put.cell_count(); ++i) {
          std::string_view metric;
          REQUIRE(read_rollup_cell(put.cell(i).qualifier, put.cell(i).value, layout, metric, back));
          CHECK(metric == name);
        }
        CHECK(back == rollup);
        CHECK(std::signbit(back.min) == std::signbit(rollup.min));
      }
    }
  }
}

TEST_CASE("cells of strangers are none of ours") {
  std::string_view metric;
  Rollup rollup;
  const std::string eight(8, '\1');
  CHECK_FALSE(read_rollup_cell("temp_c", eight, RowLayout::kWide, metric, rollup));
  CHECK_FALSE(read_rollup_cell(":min", eight, RowLayout::kWide, metric, rollup));
  CHECK_FALSE(read_rollup_cell("temp_c:avg", eight, RowLayout::kWide, metric, rollup));
  CHECK_FALSE(read_rollup_cell("temp_c:min", eight.substr(1), RowLayout::kWide, metric, rollup));
  CHECK_FALSE(read_rollup_cell("temp_c:min", "", RowLayout::kWide, metric, rollup));
  CHECK_FALSE(read_rollup_cell("temp_c", eight, RowLayout::kPacked, metric, rollup));
  CHECK_FALSE(read_rollup_cell("", std::string(32, '\1'), RowLayout::kPacked, metric, rollup));
}

TEST_CASE("what no table takes is named before it is sent") {
  const auto with_cell = [](std::string key, std::int64_t timestamp) {
    RowPut put(std::move(key), timestamp);
    put.add('r', "q", "v");
    return put;
  };
  CHECK_FALSE(why_unwritable(with_cell("k", 0)));
  CHECK_FALSE(why_unwritable(with_cell(std::string(32'767, 'x'), 1)));
  CHECK(why_unwritable(with_cell("", 1)));
  CHECK(why_unwritable(with_cell(std::string(32'768, 'x'), 1)));
  CHECK(why_unwritable(with_cell("k", -1)));
  CHECK(why_unwritable(RowPut("k", 1)));
}

TEST_CASE("a put keeps its cells apart, empty and binary ones too") {
  RowPut put("key", 7);
  put.add('r', "q", "");
  put.add('s', "topic/0", std::string("\0\xff\0", 3));
  put.add('m', "", "v");
  REQUIRE(put.cell_count() == 3);
  CHECK(put.cell(0).value.empty());
  CHECK(put.cell(1).qualifier == "topic/0");
  CHECK(put.cell(1).value == std::string_view("\0\xff\0", 3));
  CHECK(put.cell(2).qualifier.empty());
  CHECK(put.bytes() == 3 + 1 + 7 + 3 + 1 + 3 * 16);
}
