#include "tests/fuzz/fuzz.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace hourfold::fuzz {

void finding(std::string_view expectation, std::string_view instead) {
  std::fprintf(stderr, "FINDING: expected %.*s\n%.*s\n", static_cast<int>(expectation.size()),
               expectation.data(), static_cast<int>(instead.size()), instead.data());
  std::abort();
}

}  // namespace hourfold::fuzz

// libFuzzer's entry.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hourfold::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
