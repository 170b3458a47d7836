#include "payload/pointer_tree.h"

#include <algorithm>

#include "core/check.h"
#include "core/field_source.h"

namespace hourfold {

void PointerTree::add(std::string_view pointer, Role role, std::size_t part) {
  Node* node = &root_;
  for (std::string& name : pointer_names(pointer)) {
    auto found = std::find_if(node->children.begin(), node->children.end(),
                              [&](const Node& child) { return child.name == name; });
    if (found == node->children.end()) {
      Node& child = node->children.emplace_back();
      child.name = std::move(name);
      child.name.reserve(child.name.size() + Arena::kSlack);
      child.tag = name_tag(child.name);
      node = &child;
    } else {
      node = &*found;
    }
  }
  HF_CHECK(node->role == Role::kNone);
  node->role = role;
  node->part = part;
}

}  // namespace hourfold
