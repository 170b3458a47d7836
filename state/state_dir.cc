#include "state/state_dir.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

namespace hourfold {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAside = ".aside-";
constexpr std::string_view kDamagedFile = "DAMAGED";
constexpr std::string_view kWhyFile = "ASIDE.txt";
constexpr std::size_t kKeptAside = 2;

Error failed(std::string_view what, const fs::path& path, const std::error_code& code) {
  return fatal("state directory " + path.string() + ": " + std::string(what) + ": " + code.message() +
               "; check that state.dir is a directory this user may read and write, on a disk with room");
}

// A new name in a directory is durable once the directory itself was written.
void sync_directory(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

std::string utc_stamp() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

std::optional<PartitionId> partition_of(std::string_view name) {
  PartitionId partition;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), partition.value);
  if (name.empty() || error != std::errc() || end != name.data() + name.size() || partition.value < 0)
    return std::nullopt;
  return partition;
}

std::string component_name(std::string_view component) {
  std::string name;
  for (std::size_t i = 0; i < component.size(); ++i) {
    unsigned byte = 0;
    if (component[i] == '%' && i + 2 < component.size() &&
        std::from_chars(component.data() + i + 1, component.data() + i + 3, byte, 16).ptr ==
            component.data() + i + 3) {
      name.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      name.push_back(component[i]);
    }
  }
  return name;
}

void forget_oldest_aside(const fs::path& path) {
  const std::string prefix = path.filename().string() + std::string(kAside);
  std::vector<fs::path> aside;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), code)) {
    if (entry.path().filename().string().starts_with(prefix)) aside.push_back(entry.path());
  }
  std::sort(aside.begin(), aside.end());
  for (std::size_t i = 0; i + kKeptAside < aside.size(); ++i) fs::remove_all(aside[i], code);
}

std::vector<fs::path> sorted_children(const fs::path& path, std::error_code& code) {
  std::vector<fs::path> children;
  for (fs::directory_iterator it(path, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) children.push_back(it->path());
  }
  std::sort(children.begin(), children.end());
  return children;
}

}  // namespace

std::string path_component(std::string_view name) {
  std::string component;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
                       (c == '.' && !component.empty());
    if (plain) {
      component.push_back(c);
    } else {
      char escaped[4];
      std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
      component.append(escaped);
    }
  }
  return component;
}

std::string partition_dir(std::string_view state_dir, std::string_view group, std::string_view topic,
                          PartitionId partition) {
  return (fs::path(state_dir) / path_component(group) / path_component(topic) /
          std::to_string(partition.value))
      .string();
}

Result<void> create_state_dir(const std::string& path) {
  std::error_code code;
  fs::path existing = fs::absolute(path, code);
  std::vector<fs::path> created_in;
  while (!code && !fs::exists(existing, code) && existing.has_relative_path()) {
    existing = existing.parent_path();
    created_in.push_back(existing);
  }
  // exists() answers ENOTDIR below a regular file; create_directories() says it with the path that the
  // operator knows.
  code.clear();
  fs::create_directories(path, code);
  if (!code && !fs::is_directory(path)) code = std::make_error_code(std::errc::not_a_directory);
  if (!code && ::access(path.c_str(), R_OK | W_OK | X_OK) != 0) code = {errno, std::generic_category()};
  if (code) return failed("cannot be used", path, code);
  for (const fs::path& parent : created_in) sync_directory(parent);
  return {};
}

bool state_dir_exists(const std::string& path) {
  std::error_code code;
  return fs::is_directory(path, code);
}

Result<StateDirCheck> check_state_dir(const std::string& path) {
  std::error_code code;
  const fs::path marker = fs::path(path) / kDamagedFile;
  if (fs::exists(marker, code)) {
    std::ifstream file(marker);
    const std::string reason{std::istreambuf_iterator<char>(file), {}};
    return StateDirCheck{true, "reading failed before: " + reason};
  }
  code.clear();
  bool tables = false;
  bool current = false;
  for (fs::directory_iterator it(path, code), end; !code && it != end; it.increment(code)) {
    tables = tables || it->path().extension() == ".sst";
    current = current || it->path().filename() == "CURRENT";
  }
  if (code) return failed("cannot be listed", path, code);
  if (tables && !current) return StateDirCheck{true, "tables without a CURRENT file"};
  return StateDirCheck{};
}

void mark_damaged(const std::string& path, std::string_view reason) {
  std::ofstream(fs::path(path) / kDamagedFile, std::ios::trunc) << reason << '\n';
}

Result<std::string> rename_aside(const std::string& path, std::string_view why) {
  const std::string base = path + std::string(kAside) + utc_stamp();
  std::string target = base;
  std::error_code code;
  for (int n = 2; fs::exists(target, code); ++n) target = base + "-" + std::to_string(n);
  fs::rename(path, target, code);
  if (code) return failed("cannot be renamed to " + target, path, code);
  std::ofstream(fs::path(target) / kWhyFile, std::ios::trunc) << why << '\n';
  sync_directory(fs::path(path).parent_path());
  forget_oldest_aside(path);
  return target;
}

Result<std::vector<StateDirEntry>> list_state_dirs(const std::string& state_dir) {
  std::vector<StateDirEntry> entries;
  std::error_code code;
  for (const fs::path& group : sorted_children(state_dir, code)) {
    for (const fs::path& topic : sorted_children(group, code)) {
      for (const fs::path& path : sorted_children(topic, code)) {
        const std::string name = path.filename().string();
        const std::size_t aside = name.find(kAside);
        const auto partition = partition_of(std::string_view(name).substr(0, aside));
        if (!partition) continue;
        entries.push_back({component_name(group.filename().string()),
                           component_name(topic.filename().string()), *partition, path.string(),
                           aside != std::string::npos});
      }
    }
  }
  if (code) return failed("cannot be listed", state_dir, code);
  return entries;
}

}  // namespace hourfold
