#include "embedded/embedded_table.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "embedded/row_value.h"
#include "rollup_table_contract.h"

using namespace hourfold;
using namespace hourfold::contract;

namespace {

namespace fs = std::filesystem;

class TemporaryDir {
 public:
  TemporaryDir() {
    std::string pattern = (fs::temp_directory_path() / "hourfold-embedded-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDir() { fs::remove_all(path_); }
  std::string below(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

EmbeddedOptions options(const std::string& dir) {
  EmbeddedOptions made;
  made.dir = dir;
  made.write_buffer_bytes = 4 << 20;  // small, so that the suite meets flushed rows, too
  return made;
}

std::unique_ptr<EmbeddedTable> open(const std::string& dir, EmbeddedTable::Access access) {
  auto opened = EmbeddedTable::open(options(dir), access, suite_spec());
  REQUIRE_MESSAGE(opened, opened.error().message);
  return std::move(*opened);
}

class EmbeddedUnderTest final : public TableUnderTest {
 public:
  EmbeddedUnderTest() { EmbeddedUnderTest::reopen(); }
  RollupTable& table() override { return *table_; }
  void reopen() override {
    table_.reset();
    table_ = open(dir_.below("rollups"), EmbeddedTable::Access::kExisting);
  }

 private:
  TemporaryDir dir_;
  std::unique_ptr<EmbeddedTable> table_;
};

RowPut row(const std::string& key, std::int64_t timestamp, const std::string& value) {
  RowPut made(key, timestamp);
  made.add('s', "t/0", value);
  made.add('r', "m:sum", value);
  return made;
}

std::string value_at(RollupTable& table, const std::string& key) {
  auto found = table.get(key);
  REQUIRE_MESSAGE(found, found.error().message);
  return *found ? (*found)->cells[0].value : "";
}

}  // namespace

TEST_CASE("embedded table: contract of rollup tables") {
  TableSuite suite;
  suite.make = [] { return std::make_unique<EmbeddedUnderTest>(); };
  suite.random_batches = 400;
  run_rollup_table_contract(suite);
}

TEST_CASE("embedded table: golden row value") {
  std::string expected("\1\0\0\0\0\0\0\1\x2c", 9);
  expected += std::string("r\5m:sum\0\1v", 10);
  expected += std::string("s\3t/0\0\1v", 8);
  CHECK(encode_row(row("k", 300, "v")) == expected);

  // A cell that is 200 ms older than the newest.
  RowPut newer("k", 500);
  newer.add('r', "m:sum", "w");
  std::string merged;
  REQUIRE(merge_rows(expected, encode_row(newer), merged));
  expected = std::string("\1\0\0\0\0\0\0\1\xf4", 9) + std::string("r\5m:sum\0\1w", 10) +
             std::string("s\3t/0\xc8\1\1v", 9);
  CHECK(merged == expected);
}

TEST_CASE("embedded table: what is no row value is told") {
  const std::string good = encode_row(row("k", 300, "v"));
  std::string merged;
  StoredRow decoded;
  for (std::size_t size = 0; size < good.size(); ++size) {
    if (size == 9 || size == 19) continue;  // whole cells are missing, nothing is broken
    CHECK_FALSE(decode_row(good.substr(0, size), decoded));
    CHECK_FALSE(merge_rows(good, good.substr(0, size), merged));
    CHECK_FALSE(merge_rows(good.substr(0, size), good, merged));
  }
  CHECK_FALSE(decode_row("\2" + good.substr(1), decoded));
}

TEST_CASE("embedded table: opened for writing it is created as asked for") {
  const TemporaryDir dir;
  const std::string path = dir.below("a/b/rollups");
  {
    const auto table = open(path, EmbeddedTable::Access::kWrite);
    auto findings = table->check(suite_spec());
    REQUIRE(findings);
    CHECK(findings->empty());
    const RowPut put = row("\1k", 5, "v");
    REQUIRE(table->put(std::span(&put, 1)));
  }
  const auto table = open(path, EmbeddedTable::Access::kWrite);
  CHECK(value_at(*table, "\1k") == "v");
}

TEST_CASE("embedded table: one writer at a time") {
  const TemporaryDir dir;
  const std::string path = dir.below("rollups");
  auto table = open(path, EmbeddedTable::Access::kWrite);
  auto second = EmbeddedTable::open(options(path), EmbeddedTable::Access::kWrite, suite_spec());
  REQUIRE(!second);
  CHECK(second.error().kind == ErrorKind::kUnavailable);
  CHECK(second.error().message.find("locked") != std::string::npos);
  CHECK(second.error().message.find(path) != std::string::npos);
  table.reset();
  CHECK(EmbeddedTable::open(options(path), EmbeddedTable::Access::kWrite, suite_spec()));
}

TEST_CASE("embedded table: a reader beside the writer sees what was acknowledged before it opened") {
  const TemporaryDir dir;
  const std::string path = dir.below("rollups");
  auto missing = EmbeddedTable::open(options(path), EmbeddedTable::Access::kReadOnly, suite_spec());
  REQUIRE(!missing);
  CHECK(missing.error().kind == ErrorKind::kUnavailable);

  const auto writer = open(path, EmbeddedTable::Access::kWrite);
  const RowPut first = row("\1k", 5, "first");
  REQUIRE(writer->put(std::span(&first, 1)));
  const auto reader = open(path, EmbeddedTable::Access::kReadOnly);
  CHECK(value_at(*reader, "\1k") == "first");
  const RowPut second = row("\1k", 6, "second");
  REQUIRE(writer->put(std::span(&second, 1)));
  CHECK(value_at(*reader, "\1k") == "first");
  CHECK(value_at(*open(path, EmbeddedTable::Access::kReadOnly), "\1k") == "second");

  auto refused_put = reader->put(std::span(&second, 1));
  REQUIRE(!refused_put);
  CHECK(refused_put.error().kind == ErrorKind::kFatal);
}

TEST_CASE("embedded table: a reader keeps its rows while the writer flushes and compacts") {
  const TemporaryDir dir;
  const std::string path = dir.below("rollups");
  const auto writer = open(path, EmbeddedTable::Access::kWrite);
  const auto fill = [&](int timestamp) {
    std::vector<RowPut> rows;
    for (int i = 0; i < 3'000; ++i)
      rows.push_back(
          row("\1" + std::to_string(i), timestamp, std::string(2'000, static_cast<char>('a' + i % 26))));
    REQUIRE(writer->put(rows));
  };
  fill(1);
  const auto reader = open(path, EmbeddedTable::Access::kReadOnly);
  for (int round = 2; round < 12; ++round) fill(round);
  int rows = 0;
  REQUIRE(reader->scan("", "", true, [&](const StoredRow& found) {
    rows += found.cells[0].family == 'r' && found.cells[0].timestamp == 1 ? 1 : 0;
    return true;
  }));
  CHECK(rows == 3'000);
}

TEST_CASE("embedded table: a directory of something else is left alone") {
  const TemporaryDir dir;
  const std::string path = dir.below("home");
  fs::create_directories(path);
  std::ofstream(path + "/letter.txt") << "dear reader";
  for (const auto access :
       {EmbeddedTable::Access::kWrite, EmbeddedTable::Access::kExisting, EmbeddedTable::Access::kReadOnly}) {
    auto opened = EmbeddedTable::open(options(path), access, suite_spec());
    REQUIRE(!opened);
    CHECK(opened.error().kind == ErrorKind::kFatal);
  }
  CHECK(std::distance(fs::directory_iterator(path), fs::directory_iterator()) == 1);
}

TEST_CASE("embedded table: damage is named, not read over") {
  const TemporaryDir dir;
  const std::string path = dir.below("rollups");
  { const auto table = open(path, EmbeddedTable::Access::kWrite); }
  std::ofstream(path + "/CURRENT", std::ios::trunc) << "MANIFEST-999999\n";
  auto opened = EmbeddedTable::open(options(path), EmbeddedTable::Access::kWrite, suite_spec());
  REQUIRE(!opened);
  CHECK(opened.error().kind == ErrorKind::kFatal);
  CHECK(opened.error().message.find(path) != std::string::npos);
}
