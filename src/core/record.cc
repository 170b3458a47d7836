#include "core/record.h"

namespace hourfold {
namespace {

void put_optional(std::string& out, const std::optional<std::string>& value) {
  put_u8(out, value ? 1 : 0);
  if (value) put_string(out, *value);
}

std::optional<std::string> read_optional(ByteReader& in) {
  if (!in.flag()) return std::nullopt;
  return std::string(in.string());
}

std::size_t size_of(const std::optional<std::string>& value) { return value ? value->capacity() : 0; }

}  // namespace

std::size_t RecordCopy::memory_bytes() const {
  std::size_t bytes =
      sizeof *this + size_of(key) + size_of(value) + headers.capacity() * sizeof(RecordHeader);
  for (const RecordHeader& header : headers) bytes += header.name.capacity() + size_of(header.value);
  return bytes;
}

void append_record_copy(std::string& out, const RecordCopy& record) {
  put_be64(out, static_cast<std::uint64_t>(record.timestamp_ms));
  put_optional(out, record.key);
  put_optional(out, record.value);
  put_varint(out, record.headers.size());
  for (const RecordHeader& header : record.headers) {
    put_string(out, header.name);
    put_optional(out, header.value);
  }
}

RecordCopy read_record_copy(ByteReader& in) {
  RecordCopy record;
  record.timestamp_ms = static_cast<EpochMs>(in.be64());
  record.key = read_optional(in);
  record.value = read_optional(in);
  const std::uint64_t headers = in.varint();
  for (std::uint64_t i = 0; in.ok() && i < headers; ++i) {
    std::string name(in.string());
    record.headers.push_back({std::move(name), read_optional(in)});
  }
  return record;
}

}  // namespace hourfold
