// Where the state of a partition lies: <state.dir>/<group>/<topic>/<partition>, and what was renamed aside
// next to it as <partition>.aside-<UTC time>.
//
// Processes may share a state.dir: a partition's directory moves with the partition, RocksDB's lock in it
// guards it. Threads: none of its own; the file system is the only state. Errors:  Fatal with the path and
// the system's reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/types.h"

namespace hourfold {

// A name as one path component: letters, digits, '.', '_' and '-' stand for themselves, all else (and a
// leading '.') is %XX.
std::string path_component(std::string_view name);

std::string partition_dir(std::string_view state_dir, std::string_view group, std::string_view topic,
                          PartitionId partition);

// Creates it with its parents, so that they survive power loss.
Result<void> create_state_dir(const std::string& path);
bool state_dir_exists(const std::string& path);

// What a directory that RocksDB cannot open is known by before it is asked.
struct StateDirCheck {
  bool damaged = false;
  std::string reason;
};
// Damaged: marked so by mark_damaged(), or tables without the CURRENT file that names them (RocksDB would
// start empty over them).
Result<StateDirCheck> check_state_dir(const std::string& path);
// Leaves word for the next open() that reading failed. Best effort: the disk may be the reason.
void mark_damaged(const std::string& path, std::string_view reason);

// Renames the directory and writes `why` into it. The caller holds its lock. Of those set aside earlier the
// newest is kept, older ones are deleted: they cost disk, and the sink has what they held. Returns the new
// path.
Result<std::string> rename_aside(const std::string& path, std::string_view why);

struct StateDirEntry {
  std::string group;
  std::string topic;
  PartitionId partition;
  std::string path;
  bool aside = false;
};
// Every partition below a state.dir, sorted by path.
Result<std::vector<StateDirEntry>> list_state_dirs(const std::string& state_dir);

}  // namespace hourfold
