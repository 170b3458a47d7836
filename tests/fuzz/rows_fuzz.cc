// Rows, cells and the meta row as a table gives them, and rows of the embedded table that meet.
//
// An input is a letter that chooses the reader, and the bytes.
#include <map>
#include <vector>

#include "app/table_facts.h"
#include "core/contribution_codec.h"
#include "core/table_meta.h"
#include "embedded/row_value.h"
#include "pipeline/shared_row.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/one_row_table.h"

namespace hourfold::fuzz {
namespace {

void check_key(std::string_view bytes) {
  const auto parts = split_row_key(bytes);
  if (!parts) return;
  const std::string again = row_key(parts->device, parts->hour, 128);
  require_equal(std::string_view(again).substr(1), bytes.substr(1), "the key behind the salt");
  require(parts->hour == HourStart::of(parts->hour.ms), "an hour's beginning",
          std::to_string(parts->hour.ms));
}

void check_cell(std::string_view bytes) {
  Input input(bytes);
  const std::string_view qualifier = input.line();
  for (const RowLayout layout : {RowLayout::kWide, RowLayout::kPacked}) {
    std::string_view metric;
    Rollup rollup;
    if (!read_rollup_cell(qualifier, input.rest(), layout, metric, rollup)) continue;
    RowPut put("k", 0);
    add_rollup_cells(put, metric, rollup, layout);
    bool found = false;
    for (std::size_t i = 0; i < put.cell_count(); ++i)
      found |= put.cell(i).qualifier == qualifier && put.cell(i).value == input.rest();
    require(found, "the cell that was read", qualifier);
  }
}

void check_description(std::string_view bytes) {
  Input input(bytes);
  std::map<std::string, std::string> texts;
  for (const char* name : {"buckets", "layout", "version"}) {
    if (const std::string_view text = input.line(); text != "-") texts[name] = text;
  }
  const auto meta = read_description(texts);
  if (!meta) return;
  const auto again = read_description(describe(*meta));
  require(again && again->buckets == meta->buckets && again->layout == meta->layout &&
              again->version == meta->version,
          "the same description");
  salt_of("d", meta->buckets);
}

void check_meta_row(std::string_view bytes) {
  Input input(bytes);
  OneRowTable table{std::string(meta_row_key())};
  while (!input.empty()) {
    const std::string_view name = input.line();
    const std::int64_t time = static_cast<std::int64_t>(input.number(8));
    table.row.cells.push_back({'m', std::string(name), std::string(input.line()), time});
  }
  const auto facts = read_table_facts(table);
  if (!facts) return require(!facts.error().message.empty(), "a message");
  require(facts->generation.value >= 0, "a generation", std::to_string(facts->generation.value));
  const auto noted = note_partitions(table, "topic", 3, true, 1);
  require(noted.has_value(), "a note");
  const auto raised = raise_generation(table, {facts->generation.value}, HourStart{0}, "me", 1);
  require(raised.has_value(), "nothing to do");
}

// A value from disk that may be damaged, and what is made of the row.
void check_value(std::string_view bytes) {
  StoredRow row;
  row.key = row_key("d", HourStart{kHourMs}, 32);
  const bool sound = decode_row(bytes, row);
  std::string merged;
  require(merge_rows(bytes, bytes, merged) == sound, "a row that merges with itself if it is one");
  if (!sound) return;
  for (const StoredCell& cell : row.cells) {
    bool found = false;
    StoredCell first;
    require(find_cell(bytes, cell.family, cell.qualifier, found, first) && found, "each cell",
            cell.qualifier);
  }
  look_up_in(row, "topic/0");
  SharedRowRules rules;
  rules.generation = {2};
  const auto shared = SharedRow::of(row, HourStart{kHourMs}, rules);
  if (!shared) return require(!shared.error().message.empty(), "a message");
  shared->incomplete();
  look_up_in(row, *shared, "topic/0");
  if (shared->contributions().empty()) return;
  const auto put = shared->merge();
  require(put || !put.error().message.empty(), "a Put or a message");
}

using Model = std::map<std::pair<char, std::string>, std::pair<std::int64_t, std::string>>;

RowPut put_of(Input& input, Model& model) {
  RowPut put("k", static_cast<std::int64_t>(input.letter(4)));
  const std::size_t cells = input.letter(6);
  Model added;
  for (std::size_t i = 0; i < cells; ++i) {
    const char family = "msr"[input.letter(3)];
    const std::string qualifier(input.bytes(input.letter(3)));
    const std::string value(input.bytes(input.letter(3)));
    put.add(family, qualifier, value);
    added[{family, qualifier}] = {put.timestamp(), value};
  }
  for (const auto& [column, cell] : added) {
    const auto [at, fresh] = model.emplace(column, cell);
    if (!fresh && cell.first >= at->second.first) at->second = cell;
  }
  return put;
}

// Three Puts, merged from either end, against a map.
void check_merges(std::string_view bytes) {
  Input input(bytes);
  Model model;
  const std::string a = encode_row(put_of(input, model));
  const std::string b = encode_row(put_of(input, model));
  const std::string c = encode_row(put_of(input, model));
  std::string ab, ab_c, bc, a_bc;
  const bool merged =
      merge_rows(a, b, ab) && merge_rows(ab, c, ab_c) && merge_rows(b, c, bc) && merge_rows(a, bc, a_bc);
  require(merged, "rows that merge");
  require_equal(a_bc, ab_c, "the same from either end");
  StoredRow row;
  require(decode_row(ab_c, row) && row.cells.size() == model.size(), "a cell a column");
  std::size_t i = 0;
  for (const auto& [column, cell] : model) {
    const StoredCell& stored = row.cells[i++];
    require(stored.family == column.first && stored.qualifier == column.second, "columns in order",
            stored.qualifier);
    require(stored.timestamp == cell.first && stored.value == cell.second, "the latest cell",
            stored.qualifier);
  }
}

}  // namespace

void try_input(std::string_view bytes) {
  Input input(bytes);
  const std::size_t choice = input.letter(6);
  const Exact rest(input.rest());
  constexpr void (*kChecks[])(std::string_view) = {check_key,      check_cell,  check_description,
                                                   check_meta_row, check_value, check_merges};
  kChecks[choice](rest.view());
}

}  // namespace hourfold::fuzz
