#include "app/file_limit.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

using namespace hourfold;

TEST_CASE("stores share the files that the limit leaves") {
  const struct {
    std::uint64_t limit, reserved, partitions;
    int per_store;
    bool enough;
  } cases[] = {
      {1'048'576, 256, 64, 128, true},  // no store needs more
      {1'024, 256, 64, 20, false},      // 12 each: RocksDB takes no less than 20
      {1'024, 256, 8, 96, true},       {256, 256, 1, 20, false},   {100, 256, 1, 20, false},
      {256 + 20, 256, 1, 20, true},    {4'096, 256, 0, 128, true},
  };
  for (const auto& one : cases) {
    CAPTURE(one.limit);
    CAPTURE(one.partitions);
    const FileShare files = share_files(one.limit, one.reserved, one.partitions);
    CHECK(files.per_store == one.per_store);
    CHECK(files.warning.empty() == one.enough);
  }
  CHECK(share_files(1'024, 256, 64).warning ==
        "this process may open 1024 files, and needs 1536 should it hold all partitions of the topic (64); "
        "raise "
        "the limit (ulimit -n, LimitNOFILE= of systemd) to 8448 or more");
}

TEST_CASE("the soft limit of open files is raised to the hard one") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = std::min<rlim_t>(before.rlim_max, 200);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(raise_file_limit() == before.rlim_max);
  rlimit after{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_max);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}
