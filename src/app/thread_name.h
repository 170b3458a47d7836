// Names for `top -H`, perf and core dumps: at most 15 characters, the kernel's limit.
#pragma once

#include <pthread.h>

#include <string>

namespace hourfold {

inline void name_this_thread(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

}  // namespace hourfold
