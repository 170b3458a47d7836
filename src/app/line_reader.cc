#include "app/line_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace hourfold {
namespace {

Error cannot_read(const std::string& name) {
  return refused("cannot read " + name + ": " + std::strerror(errno));
}

}  // namespace

Result<LineReader> LineReader::open(const std::string& path) {
  if (path == "-") return LineReader(STDIN_FILENO, "standard input");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(path);
  return LineReader(descriptor, path);
}

LineReader::LineReader(int descriptor, std::string name)
    : descriptor_(descriptor),
      name_(std::move(name)),
      buffer_(new char[kPieceBytes]),
      capacity_(kPieceBytes) {}

LineReader::LineReader(LineReader&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      buffer_(std::move(other.buffer_)),
      capacity_(other.capacity_),
      begin_(other.begin_),
      end_(other.end_),
      at_end_(other.at_end_),
      line_number_(other.line_number_) {}

LineReader::~LineReader() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Result<bool> LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  for (;;) {
    const char* const begin = buffer_.get() + begin_;
    const auto* const newline =
        static_cast<const char*>(std::memchr(begin + searched, '\n', end_ - begin_ - searched));
    if (newline != nullptr) {
      line = {begin, static_cast<std::size_t>(newline - begin)};
      begin_ += line.size() + 1;
      break;
    }
    searched = end_ - begin_;
    auto more = fill();
    if (!more) return more.error();
    if (!*more) {
      if (begin_ == end_) return false;
      line = {buffer_.get() + begin_, end_ - begin_};
      begin_ = end_;
      break;
    }
  }
  ++line_number_;
  return true;
}

// Reads on behind what is not yet handed out; false at the end.
Result<bool> LineReader::fill() {
  if (at_end_) return false;
  const std::size_t held = end_ - begin_;
  if (held + kPieceBytes / 2 > capacity_) {
    std::unique_ptr<char[]> larger(new char[capacity_ * 2]);
    std::memcpy(larger.get(), buffer_.get() + begin_, held);
    buffer_ = std::move(larger);
    capacity_ *= 2;
  } else {
    std::memmove(buffer_.get(), buffer_.get() + begin_, held);
  }
  begin_ = 0;
  end_ = held;
  for (;;) {
    const ssize_t got = ::read(descriptor_, buffer_.get() + end_, capacity_ - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(name_);
    end_ += static_cast<std::size_t>(got);
    at_end_ = got == 0;
    return got > 0;
  }
}

}  // namespace hourfold
