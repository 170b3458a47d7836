// What the fuzzers share. A fuzzer is one file, tests/fuzz/NAME_fuzz.cc, that defines try_input(); it answers
// nothing and ends the process where an oracle fails.
//
// Invariants: what a fuzzer does is a function of the input alone, so that every finding can be replayed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hourfold::fuzz {

// Defined by each fuzzer.
void try_input(std::string_view input);

// Prints what was expected and what came instead, and aborts, which libFuzzer notes as a finding.
[[noreturn]] void finding(std::string_view expectation, std::string_view instead);

inline void require(bool holds, std::string_view expectation, std::string_view instead = {}) {
  if (!holds) finding(expectation, instead);
}
inline void require_equal(std::string_view text, std::string_view expected, std::string_view expectation) {
  if (text != expected) finding(expectation, std::string(expected) + "\n---\n" + std::string(text));
}

// A copy in memory of exactly its size, so that AddressSanitizer sees each byte read beyond it.
class Exact {
 public:
  explicit Exact(std::string_view text) : bytes_(std::make_unique<char[]>(text.size())), size_(text.size()) {
    text.copy(bytes_.get(), size_);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

// Takes choices off the front of an input; zeros and empty texts once it has run out.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto taken = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return taken;
  }
  // Below the bound, by letters: A is 0, so that a corpus can be read and written.
  std::size_t letter(std::size_t bound) { return static_cast<std::uint8_t>(byte() - 'A') % bound; }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (; bytes > 0; --bytes) value = value << 8 | byte();
    return value;
  }
  std::string_view line() {
    const std::string_view taken = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(taken.size() + (taken.size() < rest_.size() ? 1 : 0));
    return taken;
  }
  std::string_view bytes(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace hourfold::fuzz
