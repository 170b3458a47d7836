// What a configuration makes of samples: every reading with its verdict, and why what is not read is not.
//
// Threads: one. Ownership: copies.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/payload_samples.h"
#include "core/classify.h"
#include "core/config.h"
#include "core/reading.h"

namespace hourfold {

class AvroSchemas;

struct ReportedReading {
  Malformed malformed = Malformed::kNone;  // then only the explanation, and of many not even that
  std::string explanation;  // sentences; also of a strange time, or of another verdict than folded
  Verdict verdict = Verdict::kFold;
  std::string device;
  EpochMs event_ms = 0;
  std::vector<std::pair<std::string, double>> metrics;

  // What became of it: "folded", "quarantine", "archive" or "malformed".
  const char* outcome() const;
  bool folded() const { return malformed == Malformed::kNone && verdict == Verdict::kFold; }
};

struct ReportedRecord {
  std::string name;
  std::vector<ReportedReading> readings;
  std::array<std::uint32_t, static_cast<std::size_t>(MetricReject::kCount)> rejected{};
  std::vector<std::string> rejected_words;  // a sentence for each reason
  bool tombstone = false;
};

struct PayloadReport {
  std::vector<ReportedRecord> records;
  std::vector<std::string> notes;  // of keys and devices
  std::size_t readings = 0;
  std::size_t folded = 0;
  std::size_t quarantined = 0;
  std::size_t archived = 0;
  std::size_t malformed = 0;
  std::size_t rejected = 0;
};

// A record without a timestamp arrives when its newest event happened, if that can be told, else now.
// schemas: as make_payload_parser() wants them.
PayloadReport report_of(const Config& config, const std::vector<PayloadSample>& samples, EpochMs now,
                        AvroSchemas* schemas = nullptr);

}  // namespace hourfold
