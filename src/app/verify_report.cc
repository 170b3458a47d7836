#include "app/verify_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "app/progress_line.h"
#include "app/query_print.h"

namespace hourfold {
namespace {

std::string key_hex(std::string_view key) {
  std::string text;
  for (const char c : key) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string kind_text(DifferenceKind kind) {
  std::string text(to_string(kind));
  std::ranges::replace(text, '_', ' ');
  return text;
}

class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value) {
    this->name(name);
    append_json_string(out_, value);
    return *this;
  }
  JsonObject& number(std::string_view name, std::int64_t value) {
    this->name(name);
    append_number(out_, value);
    return *this;
  }
  JsonObject& number(std::string_view name, std::uint64_t value) {
    return number(name, static_cast<std::int64_t>(value));
  }
  JsonObject& raw(std::string_view name, std::string_view json) {
    this->name(name);
    out_ += json;
    return *this;
  }
  std::string take() { return out_ + "}"; }

 private:
  void name(std::string_view name) {
    out_ += out_.size() > 1 ? "," : "";
    append_json_string(out_, name);
    out_ += ':';
  }
  std::string out_ = "{";
};

std::string plural(std::uint64_t count, const std::string& one) {
  return grouped(count) + " " + one + (count == 1 ? "" : "s");
}

HourStart earliest_whole(const VerifySummary& summary) {
  HourStart latest = HourStart::lowest();
  for (const auto& [partition, facts] : summary.partitions) latest = std::max(latest, facts.whole_from);
  return latest;
}

}  // namespace

std::string difference_text(const Difference& difference) {
  std::string text = kind_text(difference.kind) + "  ";
  if (!difference.device.empty())
    text += printable(difference.device) + "  " + format_utc(difference.hour.ms) + "  ";
  if (!difference.cell.empty()) text += printable(difference.cell) + "  ";
  text += "row " + key_hex(difference.row) + "\n";
  if (!difference.expected.empty()) text += "    expected  " + printable(difference.expected) + "\n";
  if (!difference.found.empty()) text += "    found     " + printable(difference.found) + "\n";
  if (difference.partition) {
    text += "    from      partition " + std::to_string(difference.partition->value);
    if (difference.offsets) {
      text += ", offsets " + std::to_string(difference.offsets->first.value) + " to " +
              std::to_string(difference.offsets->end.value - 1);
    }
    text += "\n";
  }
  return text;
}

std::string difference_json(const Difference& difference) {
  JsonObject json;
  json.text("difference", to_string(difference.kind)).text("row", key_hex(difference.row));
  if (!difference.device.empty()) json.text("device", difference.device).number("hour", difference.hour.ms);
  if (!difference.cell.empty()) json.text("cell", difference.cell);
  if (!difference.expected.empty()) json.text("expected", difference.expected);
  if (!difference.found.empty()) json.text("found", difference.found);
  if (difference.partition) json.number("partition", std::int64_t{difference.partition->value});
  if (difference.offsets) {
    json.number("from_offset", difference.offsets->first.value)
        .number("end_offset", difference.offsets->end.value);
  }
  return json.number("cells", difference.cells).take() + "\n";
}

std::string summary_text(const VerifySummary& summary) {
  const VerifyCounts& counts = summary.counts;
  std::string text = "read again  " + plural(summary.records, "record") + ", " +
                     plural(summary.readings, "reading") + ", of " +
                     plural(summary.partitions.size(), "partition") + "\n";
  text += "compared    " + plural(counts.rows, "row") + ", " + plural(counts.cells, "cell") + ", of " +
          summary.table + ", generation " + std::to_string(summary.generation.value) + "\n";
  for (std::size_t i = 0; i < counts.left_out.size(); ++i) {
    if (counts.left_out[i] == 0) continue;
    const auto standing = static_cast<RowStanding>(i);
    text += "left out    " + plural(counts.left_out[i], "row") + ": " + std::string(why_left_out(standing));
    if (standing == RowStanding::kPartlyInLog)
      text += "; all are from " + format_utc(earliest_whole(summary).ms) + " on";
    text += "\n";
  }
  if (summary.behind > 0) {
    text += "not yet     " + plural(summary.behind, "record") +
            " at the end of the topic: the service has not committed them\n";
  }
  text += "differ      " + plural(counts.differences(), "cell") + " in " +
          plural(counts.differing_rows, "row") + "\n";
  for (std::size_t i = 0; i < counts.differing_cells.size(); ++i) {
    if (counts.differing_cells[i] == 0) continue;
    text +=
        "  " + grouped(counts.differing_cells[i]) + " of " + kind_text(static_cast<DifferenceKind>(i)) + "\n";
  }
  return text;
}

std::string summary_json(const VerifySummary& summary) {
  const VerifyCounts& counts = summary.counts;
  JsonObject kinds;
  for (std::size_t i = 0; i < counts.differing_cells.size(); ++i)
    kinds.number(to_string(static_cast<DifferenceKind>(i)), counts.differing_cells[i]);
  JsonObject left_out;
  for (std::size_t i = 1; i < counts.left_out.size(); ++i)
    left_out.number(to_string(static_cast<RowStanding>(i)), counts.left_out[i]);
  std::string partitions = "[";
  for (const auto& [partition, facts] : summary.partitions) {
    JsonObject one;
    one.number("partition", std::int64_t{partition.value})
        .number("from_offset", facts.log.first.value)
        .number("end_offset", facts.log.end.value);
    if (facts.whole_from != HourStart::lowest() && facts.whole_from != HourStart::highest())
      one.number("whole_from", facts.whole_from.ms);
    partitions += (partitions.size() > 1 ? "," : "") + one.take();
  }
  JsonObject body;
  body.text("table", summary.table)
      .number("generation", std::int64_t{summary.generation.value})
      .number("records", summary.records)
      .number("readings", summary.readings)
      .number("records_not_committed", summary.behind)
      .number("rows", counts.rows)
      .number("cells", counts.cells)
      .number("differing_rows", counts.differing_rows)
      .number("differing_cells", counts.differences())
      .raw("by_kind", kinds.take())
      .raw("rows_left_out", left_out.take())
      .raw("partitions", partitions + "]");
  return JsonObject().raw("summary", body.take()).take() + "\n";
}

VerifyReport::VerifyReport(int file, bool json, std::uint64_t shown)
    : file_(file), json_(json), shown_(shown), out_(STDOUT_FILENO) {
  if (file_ >= 0) to_file_ = std::make_unique<TextOutput>(file_);
}

VerifyReport::~VerifyReport() {
  to_file_.reset();
  if (file_ >= 0) ::close(file_);
}

Result<std::unique_ptr<VerifyReport>> VerifyReport::open(const std::string& file, bool json,
                                                         std::uint64_t shown) {
  int descriptor = -1;
  if (!file.empty()) {
    descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0) return refused("--report " + file + ": " + std::strerror(errno));
  }
  return std::unique_ptr<VerifyReport>(new VerifyReport(descriptor, json, shown));
}

void VerifyReport::add(const Difference& difference) {
  const bool shown = count_++ < shown_;
  if (!shown && !to_file_) return;
  const std::string text = json_ ? difference_json(difference) : difference_text(difference);
  if (shown) out_.write(text);
  if (to_file_) to_file_->write(text);
}

bool VerifyReport::finish(const VerifySummary& summary) {
  if (!json_ && count_ > shown_) {
    out_.write("... and " + plural(count_ - shown_, "difference") + " more" +
               (to_file_ ? ", all of them in the report" : "; --report FILE writes all") + "\n");
  }
  if (!json_ && count_ > 0) out_.write("\n");
  const std::string text = json_ ? summary_json(summary) : summary_text(summary);
  out_.write(text);
  if (to_file_) to_file_->write((json_ || count_ == 0 ? "" : "\n") + text);
  const bool printed = out_.finish();
  return (!to_file_ || to_file_->finish()) && printed;
}

}  // namespace hourfold
