// A broken invariant ends the process, in release builds too: a worker that goes on with a wrong state would
// write wrong totals.
#pragma once

#include <cstdio>
#include <cstdlib>

#define HF_CHECK(condition)                                                                  \
  do {                                                                                       \
    if (!(condition)) [[unlikely]] {                                                         \
      std::fprintf(stderr, "%s:%d: invariant broken: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
