#include "app/progress_line.h"

#include <doctest/doctest.h>

using namespace hourfold;

TEST_CASE("progress says how much, how fast and how long") {
  CHECK(progress_text({0, 0, 0}, "rows") == "0 rows");
  CHECK(progress_text({12'345, 50'000, 1.5}, "records") == "12,345 of 50,000 records  24%  8,230/s  5s left");
  CHECK(progress_text({1'000, 0, 2}, "rows") == "1,000 rows  500/s");
  CHECK(progress_text({1, 7'202, 1}, "records") == "1 of 7,202 records  0%  1/s  2h0m left");
  CHECK(progress_text({1, 100, 1}, "records") == "1 of 100 records  1%  1/s  1m39s left");
  // More than was known of is no more than all.
  CHECK(progress_text({7, 5, 1}, "rows") == "7 of 7 rows  100%  7/s  0s left");
}
