#include "app/payload_print.h"

#include <algorithm>
#include <array>
#include <map>

#include "app/output.h"
#include "app/query_print.h"
#include "core/reading_section.h"

namespace hourfold {
namespace {

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kMostReasons = 12;
constexpr std::size_t kWidestDevice = 40;

enum class Ink { kPlain, kBold, kGood, kOdd, kBad };

std::string inked(const std::string& text, Ink ink, const PrintStyle& style) {
  static constexpr std::array kCodes = {"", "1", "32", "33", "31"};
  if (!style.colour || ink == Ink::kPlain) return text;
  return std::string("\x1b[") + kCodes[static_cast<std::size_t>(ink)] + "m" + text + "\x1b[0m";
}

// Broken between words, every line but the first behind the margin. What is longer than a line stays whole.
std::string wrapped(std::string_view text, std::size_t margin, std::size_t width) {
  std::string out;
  std::size_t column = margin;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > margin && column + 1 + columns_of(word) > width) {
      out += "\n" + std::string(margin, ' ');
      column = margin;
    }
    if (column > margin) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns_of(word);
  }
  return out;
}

std::string padded(const std::string& text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  return text + std::string(columns > used ? columns - used : 0, ' ');
}

std::string shortened(std::string text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  while (!text.empty() && columns_of(text) >= columns) text.pop_back();
  while (!text.empty() && (text.back() & 0xc0) == 0x80) text.pop_back();
  return text + "…";
}

std::string time_text(EpochMs ms) {
  std::string text = format_utc(ms);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03d", static_cast<int>(((ms % 1000) + 1000) % 1000));
  return text.insert(text.size() - 1, fraction.data());
}

Ink ink_of(const ReportedReading& reading) {
  if (reading.malformed != Malformed::kNone) return Ink::kBad;
  return reading.folded() ? Ink::kGood : Ink::kOdd;
}

std::string metrics_text(const ReportedReading& reading) {
  constexpr std::size_t kMost = 24;
  if (reading.malformed != Malformed::kNone) return std::string(to_string(reading.malformed));
  if (reading.metrics.empty()) return "(none: a heartbeat)";
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, reading.metrics.size()); ++i) {
    out += (out.empty() ? "" : " ") + printable(reading.metrics[i].first) + "=";
    append_number(out, reading.metrics[i].second);
  }
  if (reading.metrics.size() > kMost)
    out += " and " + std::to_string(reading.metrics.size() - kMost) + " more";
  return out;
}

constexpr std::size_t kTimeColumns = 24;
constexpr std::size_t kVerdictColumns = 10;

void append_row(std::string& out, const ReportedReading& reading, std::size_t device_columns,
                const PrintStyle& style) {
  const std::size_t margin = 2 + device_columns + 2 + kTimeColumns + 2 + kVerdictColumns + 2;
  const bool broken = reading.malformed != Malformed::kNone;
  const std::string_view outcome = reading.outcome();
  const std::string device = broken ? "-" : shortened(printable(reading.device), kWidestDevice);
  out += "  " + padded(device, device_columns) + "  ";
  out += padded(broken ? "-" : time_text(reading.event_ms), kTimeColumns) + "  ";
  out += inked(std::string(outcome), ink_of(reading), style) +
         std::string(kVerdictColumns - outcome.size(), ' ') + "  ";
  out += wrapped(metrics_text(reading), margin, style.width) + "\n";
}

void append_table(std::string& out, const PayloadReport& report, const PrintStyle& style) {
  std::size_t device_columns = std::string_view("device").size();
  for (const ReportedRecord& record : report.records) {
    for (const ReportedReading& reading : record.readings)
      device_columns =
          std::max(device_columns, std::min(kWidestDevice, columns_of(printable(reading.device))));
  }
  out += inked("  " + padded("device", device_columns) + "  " + padded("event time (UTC)", kTimeColumns) +
                   "  " + padded("verdict", kVerdictColumns) + "  metrics",
               Ink::kBold, style) +
         "\n";
  std::size_t rows = 0;
  for (const ReportedRecord& record : report.records) {
    for (const ReportedReading& reading : record.readings) {
      if (rows++ < kMostRows) append_row(out, reading, device_columns, style);
    }
  }
  if (rows > kMostRows) out += "  and " + std::to_string(rows - kMostRows) + " more readings\n";
}

// Equal sentences once, with how often and where first.
struct Reason {
  std::string text;
  std::size_t count = 0;
  std::string where;
};

void add_reason(std::vector<Reason>& reasons, const std::string& text, const std::string& where) {
  const auto known = std::find_if(reasons.begin(), reasons.end(),
                                  [&text](const Reason& reason) { return reason.text == text; });
  if (known != reasons.end()) {
    ++known->count;
  } else {
    reasons.push_back({text, 1, where});
  }
}

std::string place_of(const PayloadReport& report, const ReportedRecord& record, std::size_t index) {
  std::string where = report.records.size() > 1 ? record.name : "";
  if (record.readings.size() > 1)
    where += (where.empty() ? "" : ", ") + ("reading " + std::to_string(index + 1));
  return where;
}

std::string sentence_of(const Reason& reason) {
  std::string place;
  if (reason.count > 1) place = std::to_string(reason.count) + " times";
  if (!reason.where.empty()) place += (place.empty() ? "" : ", first: ") + reason.where;
  return printable(reason.text) + (place.empty() ? "" : " (" + place + ")");
}

std::vector<std::string> sentences_of(const std::vector<Reason>& reasons, std::size_t unexplained) {
  std::vector<std::string> sentences;
  for (const Reason& reason : reasons) {
    if (sentences.size() < kMostReasons) {
      sentences.push_back(sentence_of(reason));
    } else {
      unexplained += reason.count;
    }
  }
  if (unexplained > 0) sentences.push_back("And " + std::to_string(unexplained) + " more like these.");
  return sentences;
}

std::vector<std::string> reasons_of(const PayloadReport& report) {
  std::vector<Reason> reasons;
  std::size_t unexplained = 0;
  for (const ReportedRecord& record : report.records) {
    for (std::size_t i = 0; i < record.readings.size(); ++i) {
      const ReportedReading& reading = record.readings[i];
      const bool broken = reading.malformed != Malformed::kNone;
      const std::string name = broken ? std::string(to_string(reading.malformed)) + ": " : "";
      if (!reading.explanation.empty())
        add_reason(reasons, name + reading.explanation, place_of(report, record, i));
      else if (broken)
        ++unexplained;
    }
    for (const std::string& words : record.rejected_words)
      add_reason(reasons, words, report.records.size() > 1 ? record.name : "");
  }
  return sentences_of(reasons, unexplained);
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string summary(const PayloadReport& report) {
  const auto tombstones = static_cast<std::size_t>(std::count_if(
      report.records.begin(), report.records.end(), [](const auto& record) { return record.tombstone; }));
  std::string out;
  if (report.records.size() > 1) out += counted(report.records.size(), "record", "records") + ", ";
  out += counted(report.readings, "reading", "readings") + ": " + std::to_string(report.folded) + " folded";
  const auto add = [&out](std::size_t count, const char* what) {
    if (count > 0) out += ", " + std::to_string(count) + " " + what;
  };
  add(report.quarantined, "to quarantine");
  add(report.archived, "to the archive");
  add(report.malformed, "malformed");
  if (report.rejected > 0) out += "; " + counted(report.rejected, "value", "values") + " left out";
  if (tombstones > 0) out += "; " + counted(tombstones, "tombstone", "tombstones") + " skipped";
  return out + ".";
}

}  // namespace

std::string notes_text(const std::vector<std::string>& notes, const PrintStyle& style) {
  std::string out;
  for (const std::string& note : notes) out += "  - " + wrapped(note, 4, style.width) + "\n";
  return out;
}

std::string proposal_text(const Recognised& recognised, const ReadingShape& shape, const PrintStyle& style) {
  std::string out = inked("Looks like " + recognised.looks_like + ".", Ink::kBold, style) + "\n\n";
  std::size_t where = 0;
  for (const RecognisedField& field : recognised.fields) where = std::max(where, columns_of(field.where));
  for (const RecognisedField& field : recognised.fields) {
    const std::string row = "  " + padded(field.what, 8) + "  " + padded(field.where, where) + "  ";
    out += row + wrapped(printable(field.found), columns_of(row), style.width);
    while (out.ends_with(' ')) out.pop_back();
    out += "\n";
  }
  if (!recognised.fields.empty()) out += "\n";
  if (shape == ReadingShape{}) return out + "The defaults fit: no \"reading\" section is needed.\n";
  out += "For the configuration:\n\n";
  std::string section = "\"reading\": " + reading_section(shape, SectionStyle::kIndented);
  for (std::size_t line = 0; line != std::string::npos; line = section.find('\n', line + 1))
    section.insert(line == 0 ? 0 : line + 1, "  ");
  return out + section + "\n";
}

std::string foreign_text(const ForeignSample& foreign, const PrintStyle& style) {
  return inked("This is " + foreign.what + ".", Ink::kBold, style) + "\n\n  " +
         wrapped(foreign.advice, 2, style.width) + "\n";
}

std::string report_text(const PayloadReport& report, const PrintStyle& style) {
  std::string out;
  if (report.readings > 0) append_table(out, report, style);
  const std::vector<std::string> reasons = reasons_of(report);
  if (!reasons.empty()) out += "\n" + notes_text(reasons, style);
  if (!report.notes.empty()) out += "\n" + notes_text(report.notes, style);
  const Ink ink = report.folded == report.readings ? Ink::kGood : Ink::kOdd;
  return out + (out.empty() ? "" : "\n") + inked(summary(report), ink, style) + "\n";
}

}  // namespace hourfold
