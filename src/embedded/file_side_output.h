// Side outputs in files: DIR/<channel>-<topic>-<partition>.jsonl, a line of JSON per record.
//
//   {"channel":"dead_letter","reason":"...","detail":"...","topic":"...","partition":0,"offset":17,"index":0,"timestamp":1767225600123,
//    "key":"<base64>","value":"<base64>","headers":[{"name":"...","value":"<base64>"}]}
//
// key, value and a header's value are null where the record has none; timestamp is null where it has none.
// Bytes of reason, detail and header names that are no UTF-8 are replaced by U+FFFD. A record may stand there
// twice. A line that is no JSON is what a crash left of one that was never acknowledged. Files grow without
// bound: move them away while the partition is not running, or prefer a topic.
//
// Lines are written and synced to the disk in take_outcomes(), and when some MiB wait; only then are they
// acknowledged. Threads: as SideOutputs; take_outcomes() waits for the disk.
#pragma once

#include <memory>
#include <string>

#include "ports/side_output.h"

namespace hourfold {

// Unavailable from check(): the folder cannot be made or written to.
std::unique_ptr<SideOutputs> make_file_side_outputs(const std::string& folder);

}  // namespace hourfold
