// What `verify` says: the differences as they are found, in a file and the first of them on standard output,
// and a summary. Text for people, or JSON, an object a line.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/output.h"
#include "app/verify_comparison.h"
#include "core/result.h"

namespace hourfold {

std::string difference_text(const Difference& difference);
std::string difference_json(const Difference& difference);

struct VerifySummary {
  std::string table;
  Generation generation;
  std::uint64_t records = 0;
  std::uint64_t readings = 0;
  std::uint64_t behind = 0;  // records behind the end of what was read: not committed yet
  std::map<PartitionId, PartitionFacts> partitions;
  VerifyCounts counts;
};
std::string summary_text(const VerifySummary& summary);
std::string summary_json(const VerifySummary& summary);

class VerifyReport {
 public:
  // file: "" for none. shown: how many differences standard output gets. Refused: the file cannot be written.
  static Result<std::unique_ptr<VerifyReport>> open(const std::string& file, bool json, std::uint64_t shown);
  ~VerifyReport();
  VerifyReport(const VerifyReport&) = delete;
  VerifyReport& operator=(const VerifyReport&) = delete;

  void add(const Difference& difference);
  // False after the message was printed that writing failed.
  bool finish(const VerifySummary& summary);

 private:
  VerifyReport(int file, bool json, std::uint64_t shown);

  const int file_;
  const bool json_;
  const std::uint64_t shown_;
  std::uint64_t count_ = 0;
  TextOutput out_;
  std::unique_ptr<TextOutput> to_file_;
};

}  // namespace hourfold
