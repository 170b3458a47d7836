// How many files the process may have open, and how many each store of state may keep open.
#pragma once

#include <cstdint>
#include <string>

namespace hourfold {

// Raises the soft limit (RLIMIT_NOFILE) to the hard one and returns it.
std::uint64_t raise_file_limit();

struct FileShare {
  int per_store = 0;
  std::string warning;  // empty: the limit is enough
};
// reserved: for connections, logs and whatever else is no store. partitions: as many stores as there may be.
FileShare share_files(std::uint64_t limit, std::uint64_t reserved, std::uint64_t partitions);

}  // namespace hourfold
