// The real partition worker against a world that fails in every way it may, one seed a history
// (tests/sim/sim_world.h).
//
//   HOURFOLD_SEED=n   plays one history and says what happens in it
//   HOURFOLD_SEEDS=n  number of histories, from HOURFOLD_SEED0 on
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "sim/sim_world.h"

using namespace hourfold::test;

namespace {

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (!text) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

void play(std::uint64_t seed, bool trace) {
  SimWorld world(seed, trace);
  const auto& findings = world.run();
  std::string text;
  for (const std::string& finding : findings) text += "\n  " + finding;
  CHECK_MESSAGE(findings.empty(), "seed ", seed, text, "\n  replay: HOURFOLD_SEED=", seed, " hourfold_sim");
}

}  // namespace

TEST_CASE("the pipeline under every fault") {
  if (const auto seed = from_environment("HOURFOLD_SEED")) return play(*seed, true);
  const std::uint64_t first = from_environment("HOURFOLD_SEED0").value_or(1);
  const std::uint64_t count = from_environment("HOURFOLD_SEEDS").value_or(2000);
  for (std::uint64_t seed = first; seed < first + count; ++seed) play(seed, false);
}
