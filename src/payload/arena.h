// Memory for the few strings of a record that cannot be views into its bytes: unescaped ones and joined
// names.
//
// Pieces keep their address until reset(), which keeps the memory for the next record. Threads: none of its
// own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace hourfold {

class Arena {
 public:
  // kSlack more bytes may be read behind a piece, so that a caller can load words.
  static constexpr std::size_t kSlack = 8;

  char* allocate(std::size_t bytes) {
    const std::size_t needed = bytes + kSlack;
    while (current_ < blocks_.size() && blocks_[current_].size - used_ < needed) {
      ++current_;
      used_ = 0;
    }
    if (current_ == blocks_.size()) add_block(needed);
    char* piece = blocks_[current_].bytes.get() + used_;
    used_ += needed;
    return piece;
  }

  void reset() { current_ = used_ = 0; }

 private:
  static constexpr std::size_t kBlockBytes = 16 * 1024;

  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size;
  };

  void add_block(std::size_t needed) {
    const std::size_t size = std::max(needed, kBlockBytes);
    blocks_.push_back({std::make_unique<char[]>(size), size});
  }

  std::vector<Block> blocks_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;
};

}  // namespace hourfold
