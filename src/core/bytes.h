// Writing and reading of the binary formats: big-endian fixed widths, LEB128 varints, length-prefixed
// strings.
//
// Errors: a ByteReader that ran out, or met bytes that no put_ function writes, such as a varint with zeros
// at its end, is not ok() from then on and yields zeros; check ok() at the end.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace hourfold {

inline void put_u8(std::string& out, std::uint8_t value) { out.push_back(static_cast<char>(value)); }

inline void put_be64(std::string& out, std::uint64_t value) {
  char bytes[8];
  for (int i = 7; i >= 0; --i, value >>= 8) bytes[i] = static_cast<char>(value & 0xff);
  out.append(bytes, sizeof bytes);
}

inline void put_be32(std::string& out, std::uint32_t value) {
  char bytes[4];
  for (int i = 3; i >= 0; --i, value >>= 8) bytes[i] = static_cast<char>(value & 0xff);
  out.append(bytes, sizeof bytes);
}

inline void put_double(std::string& out, double value) { put_be64(out, std::bit_cast<std::uint64_t>(value)); }

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

constexpr std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

inline void put_string(std::string& out, std::string_view value) {
  put_varint(out, value.size());
  out.append(value);
}

inline std::uint64_t read_be64(const char* bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = (value << 8) | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  std::size_t remaining() const { return rest_.size(); }
  std::string_view rest() const { return rest_; }

  std::uint8_t u8() {
    const std::string_view one = bytes(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
  }
  std::uint64_t be64() {
    const std::string_view eight = bytes(8);
    return eight.empty() ? 0 : read_be64(eight.data());
  }
  std::uint32_t be32() {
    std::uint32_t value = 0;
    for (const char byte : bytes(4)) value = (value << 8) | static_cast<std::uint8_t>(byte);
    return value;
  }
  double f64() { return std::bit_cast<double>(be64()); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      if (!ok_) return 0;
      if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0)) break;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }
  // What is above the bound cannot have been written.
  std::uint64_t varint_up_to(std::uint64_t highest) {
    const std::uint64_t value = varint();
    if (value <= highest) return value;
    ok_ = false;
    return 0;
  }
  // Of a number that is never negative.
  std::int64_t whole() {
    return static_cast<std::int64_t>(varint_up_to(std::numeric_limits<std::int64_t>::max()));
  }
  // One byte, 0 or 1.
  bool flag() {
    const std::uint8_t byte = u8();
    if (byte > 1) ok_ = false;
    return byte == 1;
  }
  std::string_view string() {
    const std::uint64_t size = varint();
    if (size > rest_.size()) {
      ok_ = false;
      return {};
    }
    return bytes(static_cast<std::size_t>(size));
  }
  std::string_view bytes(std::size_t size) {
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace hourfold
