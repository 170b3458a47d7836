// Which devices a command is about: names and patterns, separated by commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/glob.h"

namespace hourfold {

class DeviceFilter {
 public:
  // "dev-1,dev-2", "site-a-*,site-b-??", see core/glob.h. Empty: every device.
  explicit DeviceFilter(std::string_view text);

  bool takes(std::string_view device) const;
  bool takes_all() const { return patterns_.empty(); }
  // The devices, if all are named without a pattern; else empty.
  std::vector<std::string> names() const;

 private:
  std::vector<Glob> patterns_;
};

}  // namespace hourfold
