#include "embedded/file_side_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace hourfold {
namespace {

constexpr std::size_t kBufferMax = 4U << 20U;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }

 private:
  int number_;
};

std::string base64(std::string_view bytes) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kAlphabet[group >> (18U - 6U * k) & 63U] : '=';
  }
  return text;
}

nlohmann::json base64_or_null(const std::optional<std::string>& bytes) {
  return bytes ? nlohmann::json(base64(*bytes)) : nlohmann::json(nullptr);
}

std::string encode(const SideRecord& record) {
  nlohmann::ordered_json line;
  line["channel"] = to_string(record.channel);
  line["reason"] = record.reason;
  line["detail"] = record.detail;
  line["topic"] = record.topic;
  line["partition"] = record.partition.value;
  line["offset"] = record.position.offset.value;
  line["index"] = record.position.index;
  line["timestamp"] = record.timestamp_ms < 0 ? nlohmann::json(nullptr) : nlohmann::json(record.timestamp_ms);
  line["key"] = base64_or_null(record.key);
  line["value"] = base64_or_null(record.value);
  line["headers"] = nlohmann::json::array();
  for (const auto& [name, value] : record.headers)
    line["headers"].push_back({{"name", name}, {"value", base64_or_null(value)}});
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

Error failure(const std::string& what) {
  return unavailable("side file " + what + ": " + std::strerror(errno));
}

// One file, appended to.
class SideFile {
 public:
  explicit SideFile(std::string path) : path_(std::move(path)) {}

  void add(const SideRecord& record) {
    buffer_ += encode(record);
    waiting_.push_back(record.position);
  }
  std::size_t buffered() const { return buffer_.size(); }

  // Moves what waits to one of the two lists.
  void flush(SideOutcomes& outcomes) {
    if (waiting_.empty()) return;
    auto& outcome = write_and_sync() ? outcomes.acknowledged : outcomes.failed;
    outcome.insert(outcome.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
    buffer_.clear();
  }

 private:
  bool write_and_sync() {
    if (!file_.open() && !open_file()) return false;
    std::string_view left = buffer_;
    while (!left.empty()) {
      const auto count = ::write(file_.number(), left.data(), left.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      left.remove_prefix(static_cast<std::size_t>(count));
    }
    const bool done = left.empty() && ::fdatasync(file_.number()) == 0;
    if (!done) file_ = Descriptor();  // opened again, it ends what was cut off
    return done;
  }

  bool open_file() {
    Descriptor file(::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
    if (!file.open()) return false;
    char last = '\n';
    const auto size = ::lseek(file.number(), 0, SEEK_END);
    if (size < 0 || (size > 0 && ::pread(file.number(), &last, 1, size - 1) != 1)) return false;
    if (last != '\n' && ::write(file.number(), "\n", 1) != 1) return false;
    const Descriptor folder(
        ::open(std::filesystem::path(path_).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.open() || ::fsync(folder.number()) != 0) return false;  // the file's name survives, too
    file_ = std::move(file);
    return true;
  }

  std::string path_;
  Descriptor file_;
  std::string buffer_;
  std::vector<Position> waiting_;
};

class SideFilesOfWorker final : public SideOutput {
 public:
  explicit SideFilesOfWorker(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<void> send(const SideRecord& record) override {
    const std::string name = std::string(to_string(record.channel)) + "-" + record.topic + "-" +
                             std::to_string(record.partition.value) + ".jsonl";
    auto& file = files_.try_emplace(name, (folder_ / name).string()).first->second;
    file.add(record);
    if (file.buffered() > kBufferMax) file.flush(early_);
    return {};
  }

  void take_outcomes(SideOutcomes& outcomes) override {
    for (auto& [name, file] : files_) file.flush(early_);
    std::ranges::move(early_.acknowledged, std::back_inserter(outcomes.acknowledged));
    std::ranges::move(early_.failed, std::back_inserter(outcomes.failed));
    early_ = {};
  }

 private:
  std::filesystem::path folder_;
  std::map<std::string, SideFile> files_;
  SideOutcomes early_;  // of buffers that were full before they were asked for
};

class SideFiles final : public SideOutputs {
 public:
  explicit SideFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<void> check() override {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) return unavailable("side files: folder " + folder_.string() + ": " + error.message());
    const auto probe = (folder_ / ".writable").string();
    const Descriptor file(::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!file.open()) return failure(probe);
    ::unlink(probe.c_str());
    return {};
  }

  std::unique_ptr<SideOutput> open(PartitionId) override {
    return std::make_unique<SideFilesOfWorker>(folder_);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

std::unique_ptr<SideOutputs> make_file_side_outputs(const std::string& folder) {
  return std::make_unique<SideFiles>(folder);
}

}  // namespace hourfold
