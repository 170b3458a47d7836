#include "app/file_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace hourfold {
namespace {

// What a store profits from: past it, files are opened again as they are needed.
constexpr std::uint64_t kEnoughPerStore = 128;
// RocksDB takes no less, and keeps ten of them for what is no table.
constexpr std::uint64_t kLeastPerStore = 20;

}  // namespace

std::uint64_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  return limit.rlim_cur;
}

FileShare share_files(std::uint64_t limit, std::uint64_t reserved, std::uint64_t partitions) {
  const std::uint64_t stores = std::max<std::uint64_t>(1, partitions);
  const std::uint64_t share = (limit > reserved ? limit - reserved : 0) / stores;
  FileShare files;
  files.per_store = static_cast<int>(std::clamp(share, kLeastPerStore, kEnoughPerStore));
  if (share >= kLeastPerStore) return files;
  files.warning = "this process may open " + std::to_string(limit) + " files, and needs " +
                  std::to_string(reserved + stores * kLeastPerStore) +
                  " should it hold all partitions of the topic (" + std::to_string(stores) +
                  "); raise the limit (ulimit -n, LimitNOFILE= of systemd) to " +
                  std::to_string(reserved + stores * kEnoughPerStore) + " or more";
  return files;
}

}  // namespace hourfold
