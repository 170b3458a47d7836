#include "app/load_config.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "app/open_schemas.h"
#include "app/output.h"

namespace hourfold {
namespace {

constexpr std::string_view kNoFile = "the command line";

bool is_folder(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

std::optional<std::string> read_file(const std::string& path) {
  if (is_folder(path)) {
    errno = EISDIR;
    return std::nullopt;
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The newline that editors and `echo` leave at the end is no part of a password.
std::optional<std::string> secret_file(const std::string& path) {
  auto text = read_file(path);
  if (text && text->ends_with('\n')) text->pop_back();
  if (text && text->ends_with('\r')) text->pop_back();
  return text;
}

}  // namespace

std::optional<Config> load_config(const ConfigOptions& options, NeedsKafka needs) {
  std::optional<std::string> text = "{}";
  if (!options.file.empty()) text = read_file(options.file);
  if (!text) {
    print_error("cannot read the configuration " + options.file + ": " + std::strerror(errno));
    return std::nullopt;
  }
  const std::string_view name = options.file.empty() ? kNoFile : options.file;
  auto config =
      parse_config(*text, name, options.overrides, {variable, secret_file}, needs == NeedsKafka::kYes);
  if (!config) {
    print_error(config.error().message);
    return std::nullopt;
  }
  if (auto sound = check_schemas(config->reading.shape); !sound) {
    print_error(std::string(name) + ": " + sound.error().message);
    return std::nullopt;
  }
  return std::move(*config);
}

}  // namespace hourfold
