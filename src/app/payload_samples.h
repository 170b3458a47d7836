// The records that `payload try` looks at: of files, of standard input, or of the topic.
//
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "app/commands.h"
#include "core/config.h"
#include "core/record.h"
#include "core/result.h"

namespace hourfold {

struct PayloadSample {
  std::string name;  // file, file:line or topic/partition/offset
  RecordCopy record;
};

// Refused: no such file, no hexadecimal digits, a header without a name, a terminal in the place of a sample.
Result<std::vector<PayloadSample>> samples_of_files(const PayloadTryOptions& options);

// Reads the first or last records of the topic without joining the group. Unavailable: no broker, no topic.
Result<std::vector<PayloadSample>> samples_of_topic(const PayloadTryOptions& options, const Config& config);

}  // namespace hourfold
