// The `s` cell: a partition's whole contribution to a row. It is what a worker without a disk goes on from.
//
// Invariants: the bytes are a function of the content: metrics sorted by name, equal sets of times stored
// once, in order of first use. Bytes: docs/FORMATS.md, "Contribution"; pinned by
// tests/unit/contribution_codec_test.cc. Errors: Fatal for a newer version or for bytes that are none (the
// partition must stop rather than guess).
#pragma once

#include <string>
#include <string_view>

#include "core/metric_schema.h"
#include "core/result.h"
#include "core/rollup_row.h"
#include "core/window.h"

namespace hourfold {

inline constexpr std::uint8_t kContributionVersion = 1;

void append_contribution(std::string& out, const Window& window);
Result<Window> read_contribution(std::string_view bytes, SchemaPool& pool);

// Qualifier of the cell in family `s`.
std::string contribution_qualifier(std::string_view topic, PartitionId partition);

// Of the same topic, by their qualifiers.
bool same_topic(std::string_view qualifier, std::string_view other);

// The Put of the contribution alone, at the window's cell timestamp.
RowPut make_contribution_put(const Window& window, std::string_view device, HourStart hour,
                             std::uint32_t buckets, Generation generation,
                             std::string_view contribution_qualifier);

// The row's whole Put: every metric in `r` and the contribution in `s`, all at the window's cell timestamp.
RowPut make_row_put(const Window& window, std::string_view device, HourStart hour, std::uint32_t buckets,
                    RowLayout layout, Generation generation, std::string_view contribution_qualifier);

}  // namespace hourfold
