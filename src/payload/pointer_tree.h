// The pointers of a shape as a tree of member names, so that one walk over a document meets all of them.
//
// Ownership and threads: a value, never changed after it was built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "payload/arena.h"
#include "payload/name_tag.h"

namespace hourfold {

class PointerTree {
 public:
  enum class Role : std::uint8_t { kNone, kMetrics, kTime, kDevice, kArrival, kMetric, kValue, kBody };

  struct Node {
    std::string name;
    std::uint64_t tag = 0;
    Role role = Role::kNone;
    std::size_t part = 0;  // kDevice: which
    std::vector<Node> children;

    // Null if no pointer goes through the member.
    const Node* child(std::string_view member, std::uint64_t member_tag) const {
      for (const Node& node : children) {
        if (node.tag == member_tag && node.name == member) return &node;
      }
      return nullptr;
    }
  };

  // Two roles at one place are the caller's mistake and end the process.
  void add(std::string_view pointer, Role role, std::size_t part = 0);
  const Node& root() const { return root_; }

 private:
  Node root_;
};

}  // namespace hourfold
