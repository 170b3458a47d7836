#include "rollup_table_contract.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "rollup_table_model.h"

namespace hourfold::contract {
namespace {

std::vector<StoredRow> scan_all(RollupTable& table, const std::string& from, const std::string& to,
                                bool all_families) {
  std::vector<StoredRow> rows;
  auto done = table.scan(from, to, all_families, [&](const StoredRow& row) {
    rows.push_back(row);
    return true;
  });
  REQUIRE_MESSAGE(done, done.error().message);
  return rows;
}

void check_equal(const std::vector<StoredRow>& found, const std::vector<StoredRow>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    REQUIRE(found[i].key == expected[i].key);
    REQUIRE(found[i].cells == expected[i].cells);
  }
}

void put(RollupTable& table, const std::vector<RowPut>& rows) {
  auto done = table.put(rows);
  REQUIRE_MESSAGE(done, done.error().message);
}

RowPut simple(const std::string& key, std::int64_t timestamp, std::string_view value) {
  RowPut row(key, timestamp);
  row.add('r', "m:sum", value);
  row.add('s', "t/0", value);
  return row;
}

void check_look_ups(RollupTable& table, const Model& model, Random& random) {
  std::vector<std::string> keys;
  for (int i = 0; i < 130; ++i) keys.push_back(random.key());
  keys.emplace_back("no such row");
  auto found = table.look_up(keys, "t/0");
  REQUIRE_MESSAGE(found, found.error().message);
  REQUIRE(found->size() == keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::vector<StoredCell> cells = model.row(keys[i], true);
    const auto contribution = std::find_if(cells.begin(), cells.end(), [](const StoredCell& c) {
      return c.family == 's' && c.qualifier == "t/0";
    });
    const RowLookup& row = (*found)[i];
    REQUIRE(row.contribution.has_value() == (contribution != cells.end()));
    if (row.contribution) {
      REQUIRE(*row.contribution == *contribution);
    } else {
      const bool of_topic = std::any_of(cells.begin(), cells.end(), [](const StoredCell& c) {
        return c.family == 's' && c.qualifier.starts_with("t/");
      });
      REQUIRE(row.has_rollup == (!model.row(keys[i], false).empty() && !of_topic));
    }
  }
  auto read = table.read(keys);
  REQUIRE_MESSAGE(read, read.error().message);
  REQUIRE(read->size() == keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    CHECK((*read)[i].key == keys[i]);
    REQUIRE((*read)[i].cells == model.row(keys[i], true));
  }
}

void check_get(RollupTable& table, const Model& model, const std::string& key) {
  auto found = table.get(key);
  REQUIRE_MESSAGE(found, found.error().message);
  const std::vector<StoredCell> expected = model.row(key, true);
  REQUIRE(found->has_value() == !expected.empty());
  if (*found) REQUIRE((*found)->key == key);
  if (*found) REQUIRE((*found)->cells == expected);
}

void random_operations(TableUnderTest& under_test, int batches) {
  Random random(7);
  Model model;
  for (int i = 1; i <= batches; ++i) {
    const std::vector<RowPut> rows = random.batch();
    put(under_test.table(), rows);
    for (const RowPut& row : rows) model.put(row);
    check_get(under_test.table(), model, random.key());
    if (i % 10 == 0) check_look_ups(under_test.table(), model, random);
    if (i % 25 == 0) under_test.reopen();
    if (i % 10 != 0) continue;
    const std::string from = random.key();
    const std::string to = random.key();
    check_equal(scan_all(under_test.table(), "", "\xff", true), model.scan("", "\xff", true));
    check_equal(scan_all(under_test.table(), "", "\xff", false), model.scan("", "\xff", false));
    check_equal(scan_all(under_test.table(), from, to, true),
                from < to ? model.scan(from, to, true) : std::vector<StoredRow>());
  }
}

void missing_table(RollupTable& table) {
  auto checked = table.check(suite_spec());
  REQUIRE(!checked);
  CHECK(checked.error().kind == ErrorKind::kUnavailable);
  CHECK_MESSAGE(checked.error().message.find("hourfold table create") != std::string::npos,
                checked.error().message);
  const std::string key = "\1k";
  const RowPut rows[] = {simple(key, 1, "v"), simple("\2k", 1, "v")};
  auto one = table.put(std::span(rows, 1));
  REQUIRE(!one);
  CHECK_MESSAGE(one.error().kind == ErrorKind::kUnavailable, one.error().message);
  CHECK_MESSAGE(one.error().message.find("hourfold table create") != std::string::npos, one.error().message);
  auto two = table.put(rows);
  REQUIRE(!two);
  CHECK(two.error().retryable());
  CHECK_MESSAGE(two.error().message.find("hourfold table create") != std::string::npos, two.error().message);
  auto looked_up = table.look_up(std::span(&key, 1), "t/0");
  REQUIRE(!looked_up);
  CHECK(looked_up.error().kind == ErrorKind::kUnavailable);
  auto read = table.read(std::span(&key, 1));
  REQUIRE(!read);
  CHECK(read.error().kind == ErrorKind::kUnavailable);
  auto found = table.get(key);
  REQUIRE(!found);
  CHECK(found.error().kind == ErrorKind::kUnavailable);
  auto is_empty = table.empty();
  REQUIRE(!is_empty);
  CHECK(is_empty.error().kind == ErrorKind::kUnavailable);
  auto scanned = table.scan("", "", false, [](const StoredRow&) { return true; });
  REQUIRE(!scanned);
  CHECK(scanned.error().kind == ErrorKind::kUnavailable);
}

void create_and_check(TableUnderTest& under_test) {
  auto as_made = under_test.table().check(suite_spec());
  REQUIRE_MESSAGE(as_made, as_made.error().message);
  for (const TableFinding& finding : *as_made) MESSAGE(finding.message);
  CHECK(as_made->empty());
  auto again = under_test.table().create(suite_spec());
  REQUIRE(!again);
  CHECK(again.error().kind == ErrorKind::kFatal);
  under_test.reopen();
  TableSpec other = suite_spec();
  other.buckets += 1;
  other.layout = RowLayout::kPacked;
  auto findings = under_test.table().check(other);
  REQUIRE_MESSAGE(findings, findings.error().message);
  CHECK(std::count_if(findings->begin(), findings->end(),
                      [](const TableFinding& f) { return !f.harmless; }) == 2);
}

void meta_row(TableUnderTest& under_test) {
  under_test.reopen();
  auto meta = under_test.table().get(std::string(meta_row_key()));
  REQUIRE_MESSAGE(meta, meta.error().message);
  REQUIRE(meta->has_value());
  std::map<std::string, std::string> texts;
  for (const StoredCell& cell : (*meta)->cells) {
    CHECK(cell.family == 'm');
    texts[cell.qualifier] = cell.value;
  }
  CHECK(texts["generation"] == "0");
  CHECK(texts["buckets"] == "4");
  CHECK(texts["layout"] == "wide");
  CHECK(texts["version"] == "1");
  CHECK(texts["created"].size() == std::string("2026-01-01T00:00:00Z").size());
}

void emptiness(RollupTable& table) {
  auto before = table.empty();
  REQUIRE_MESSAGE(before, before.error().message);
  CHECK(*before);
  CHECK(scan_all(table, "", "", false).empty());
  put(table, {});
  put(table, {simple("\3k", 5, "v")});
  auto after = table.empty();
  REQUIRE(after);
  CHECK_FALSE(*after);
}

void rows_that_never_do(RollupTable& table) {
  const RowPut good = simple("\1good", 5, "v");
  RowPut bad[] = {simple("", 5, "v"), simple(std::string(32'768, 'x'), 5, "v"), RowPut("\1none", 5),
                  simple("\1k", -1, "v")};
  for (const RowPut& row : bad) {
    auto alone = table.put(std::span(&row, 1));
    REQUIRE(!alone);
    CHECK_MESSAGE(alone.error().kind == ErrorKind::kRefused, alone.error().message);
    const RowPut both[] = {good, row};
    auto together = table.put(both);
    REQUIRE(!together);
    CHECK_MESSAGE(together.error().kind == ErrorKind::kRefused, together.error().message);
  }
  // Refused for a batch: nothing of it was written.
  auto found = table.get(good.key());
  REQUIRE(found);
  CHECK_FALSE(found->has_value());
  const std::string empty_key;
  CHECK_FALSE(table.get(empty_key));
  put(table, {simple(std::string(32'767, 'x'), 5, "longest")});
  found = table.get(std::string(32'767, 'x'));
  REQUIRE(found);
  CHECK(found->has_value());
}

// A later total is never hidden by an earlier one that lands after it; a repeated Put changes nothing.
void late_landing(RollupTable& table) {
  const std::string key = "\2k";
  put(table, {simple(key, 100, "revision 100")});
  put(table, {simple(key, 99, "revision 99")});
  CHECK((*table.get(key))->cells[0].value == "revision 100");
  put(table, {simple(key, 100, "revision 100 again")});
  CHECK((*table.get(key))->cells[0].value == "revision 100 again");
  put(table, {simple(key, 101, "revision 101"), simple(key, 98, "revision 98")});
  CHECK((*table.get(key))->cells[0].value == "revision 101");
  RowPut part(key, 102);
  part.add('r', "m:sum", "only this");
  put(table, {part});
  const auto row = table.get(key);
  CHECK((*row)->cells[0].value == "only this");
  CHECK((*row)->cells[0].timestamp == 102);
  CHECK((*row)->cells[1].value == "revision 101");
  CHECK((*row)->cells[1].timestamp == 101);
}

void stopping_scans(RollupTable& table) {
  std::vector<RowPut> rows;
  for (int i = 0; i < 1'234; ++i) {
    rows.push_back(
        simple(std::string(1, static_cast<char>(i % 4)) + std::to_string(100'000 + i), 5, std::to_string(i)));
  }
  put(table, rows);
  CHECK(scan_all(table, "", "", false).size() == rows.size());
  CHECK(scan_all(table, std::string(1, '\1'), std::string(1, '\2'), false).size() == rows.size() / 4 + 1);
  int seen = 0;
  auto done = table.scan("", "", false, [&](const StoredRow&) { return ++seen < 700; });
  CHECK(done);
  CHECK(seen == 700);
}

// More than one call of any transport carries, and single values near the bound of a contribution.
void large_batches(RollupTable& table) {
  std::vector<RowPut> rows;
  for (int i = 0; i < 7; ++i) {
    RowPut row(std::string(1, static_cast<char>(i % 4)) + "large" + std::to_string(i), 5);
    row.add('s', "t/0", std::string(900'000, static_cast<char>('a' + i)));
    rows.push_back(std::move(row));
  }
  put(table, rows);
  std::vector<std::string> keys;
  for (const RowPut& row : rows) keys.push_back(row.key());
  auto found = table.look_up(keys, "t/0");
  REQUIRE_MESSAGE(found, found.error().message);
  for (std::size_t i = 0; i < rows.size(); ++i)
    CHECK((*found)[i].contribution->value == rows[i].cell(0).value);
}

// A reader sees a row of one Put or of the next, never of both; many writers end at the highest timestamp.
void rows_are_atomic(RollupTable& table) {
  const std::string key = "\1row";
  const auto whole = [&](int revision) {
    RowPut row(key, revision);
    for (int i = 0; i < 30; ++i) row.add('r', "m" + std::to_string(i), std::to_string(revision));
    row.add('s', "t/0", std::to_string(revision));
    return row;
  };
  put(table, {whole(0)});
  std::atomic<int> next{1};
  std::atomic<int> failures{0};
  constexpr int kRevisions = 120;
  std::vector<std::thread> writers;
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([&] {
      for (int revision = next++; revision <= kRevisions; revision = next++) {
        const RowPut row = whole(revision);
        if (!table.put(std::span(&row, 1))) ++failures;
      }
    });
  }
  std::int64_t highest = 0;
  while (next <= kRevisions) {
    auto found = table.get(key);
    if (!found || !*found || (*found)->cells.size() != 31) {
      ++failures;
      continue;
    }
    for (const StoredCell& cell : (*found)->cells) {
      if (cell.timestamp != (*found)->cells[0].timestamp || cell.value != (*found)->cells[0].value)
        ++failures;
    }
    if ((*found)->cells[0].timestamp < highest) ++failures;
    highest = (*found)->cells[0].timestamp;
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(failures == 0);
  auto last = table.get(key);
  REQUIRE(last);
  CHECK((*last)->cells[0].timestamp == kRevisions);
}

}  // namespace

TableSpec suite_spec() {
  TableSpec spec;
  spec.buckets = 4;
  return spec;
}

void run_rollup_table_contract(const TableSuite& suite) {
  const std::unique_ptr<TableUnderTest> under_test = suite.make();
  const auto created = [&]() -> TableUnderTest& {
    auto done = under_test->table().create(suite_spec());
    REQUIRE_MESSAGE(done, done.error().message);
    return *under_test;
  };
  SUBCASE("a missing table is unavailable and says what to do") { missing_table(under_test->table()); }
  SUBCASE("create and check") { create_and_check(created()); }
  SUBCASE("the meta row") { meta_row(created()); }
  SUBCASE("empty or not") { emptiness(created().table()); }
  SUBCASE("rows that can never be written") { rows_that_never_do(created().table()); }
  SUBCASE("Puts that land late") { late_landing(created().table()); }
  SUBCASE("scans that stop") { stopping_scans(created().table()); }
  SUBCASE("large batches") { large_batches(created().table()); }
  SUBCASE("rows are atomic") { rows_are_atomic(created().table()); }
  SUBCASE("random operations agree with the model") { random_operations(created(), suite.random_batches); }
}

}  // namespace hourfold::contract
