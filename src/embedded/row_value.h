// One row of the embedded table as one value, and how two Puts to a row become one.
//
//     version (1 byte, 1) | newest timestamp (8, big-endian) | cells by family, then qualifier:
//     family (1) | qualifier (varint length, bytes) | newest timestamp - timestamp (varint) | value (varint
//     length, bytes)
//
// Invariants: canonical: equal cells have equal bytes, whatever order they were put in. Merging is
// associative: per column the higher
//             timestamp wins, at equal ones the later.
// Pure. Pinned by tests/contract/embedded_table_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "core/rollup_row.h"
#include "ports/rollup_table.h"

namespace hourfold {

// Of a qualifier added twice the later value counts.
std::string encode_row(const RowPut& row);

// False if either is no row value; out is then unspecified.
bool merge_rows(std::string_view earlier, std::string_view later, std::string& out);

// False if it is no row value.
bool decode_row(std::string_view value, StoredRow& row);
// One column, without decoding the others. False if it is no row value; found says whether it is there.
bool find_cell(std::string_view value, char family, std::string_view qualifier, bool& found,
               StoredCell& cell);

}  // namespace hourfold
