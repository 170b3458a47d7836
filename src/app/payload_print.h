// What `payload try` prints: for people on a terminal, and as JSON for programs.
//
// Threads: free functions without state.
#pragma once

#include <optional>
#include <string>

#include "app/payload_report.h"
#include "payload/recognise.h"

namespace hourfold {

struct PrintStyle {
  std::size_t width = 80;
  bool colour = false;
};

// What the sample looks like, and the section to copy.
std::string proposal_text(const Recognised& recognised, const ReadingShape& shape, const PrintStyle& style);
// A sample that no configuration makes readable.
std::string foreign_text(const ForeignSample& foreign, const PrintStyle& style);
// The readings in a table, what was left out and why, and the sum of it.
std::string report_text(const PayloadReport& report, const PrintStyle& style);
// Sentences in lines, a dash before each.
std::string notes_text(const std::vector<std::string>& notes, const PrintStyle& style);

// {"proposed":{...},"reading":{...},"records":[...],...}; what is not there is left out.
struct PayloadAnswer {
  const Recognised* recognised = nullptr;
  const ForeignSample* foreign = nullptr;
  const ReadingShape* shape = nullptr;
  const PayloadReport* report = nullptr;
};
std::string payload_json(const PayloadAnswer& answer);

}  // namespace hourfold
