// Folds readings of a steady fleet in measured(), whose instructions tests/instructions/run.py counts.
#include <cstdio>
#include <cstdlib>

#include "bench/support.h"

namespace {

constexpr std::size_t kBatch = 1024;

}  // namespace

// By this name valgrind finds it.
extern "C" [[gnu::noinline]] void measured(hourfold::bench::World& world,
                                           const hourfold::RecordBatch& batch) {
  world.fold(batch);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::size_t readings = std::strtoull(argv[1], nullptr, 10);
  constexpr std::int64_t kDevices = 1000;
  hourfold::bench::World world(kDevices);
  // Windows are open and their names known before anything counts.
  for (int i = 0; i < 4; ++i) world.fold(world.next(kBatch));
  std::size_t folded = 0;
  for (; folded < readings; folded += kBatch) measured(world, world.next(kBatch));
  std::printf("%zu\n", folded);
}
