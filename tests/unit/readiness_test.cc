#include "app/readiness.h"

#include <doctest/doctest.h>

using namespace hourfold;
using namespace std::chrono_literals;

namespace {

Service::Status working() {
  Service::Status status;
  status.joined = true;
  Service::PartitionStatus partition;
  partition.partition = {3};
  status.partitions.push_back(partition);
  return status;
}

}  // namespace

TEST_CASE("a service is ready while its partitions are open and what they write is taken") {
  CHECK_FALSE(why_not_ready(working()));
  Service::Status status = working();
  status.joined = false;
  CHECK(why_not_ready(status)->find("group") != std::string::npos);
  status = working();
  status.waiting.push_back({5});
  status.waiting_for = "locked";
  CHECK(*why_not_ready(status) == "partition 5 is not open: locked");
  status = working();
  status.trouble = "no table";
  CHECK(*why_not_ready(status) == "no table");
}

TEST_CASE("what a partition cannot write makes it not ready after a minute, with the reason") {
  Service::Status status = working();
  status.partitions[0].trouble = "topic is away";
  status.partitions[0].trouble_for = 60s;
  CHECK_FALSE(why_not_ready(status));
  status.partitions[0].trouble_for = 61s;
  CHECK(*why_not_ready(status) == "partition 3: topic is away (for 61 s; tried again until it works)");
  CHECK_FALSE(why_not_well(status));  // no restart would help
}

TEST_CASE("a service that does not poll is not well") {
  Service::Status status = working();
  status.since_poll = 60s;
  CHECK_FALSE(why_not_well(status));
  status.since_poll = 61s;
  CHECK(why_not_well(status)->find("not polled") != std::string::npos);
}
