#include "app/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace hourfold {
namespace {

std::shared_ptr<spdlog::logger> logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = spdlog::stderr_color_mt("hourfold");
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
    return made;
  }();
  return instance;
}

}  // namespace

bool set_log_level(const std::string& level) {
  const auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") return false;
  logger()->set_level(parsed);
  logger()->flush_on(spdlog::level::warn);
  return true;
}

LogLine log_line() {
  return [](char level, const std::string& text) {
    switch (level) {
      case 'e':
        logger()->error(text);
        break;
      case 'w':
        logger()->warn(text);
        break;
      case 'd':
        logger()->debug(text);
        break;
      default:
        logger()->info(text);
        break;
    }
  };
}

}  // namespace hourfold
