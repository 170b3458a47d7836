#include "payload/device_parts.h"

#include <algorithm>
#include <cstring>

#include "core/check.h"
#include "payload/json_tokens.h"

namespace hourfold {
namespace {

using Kind = FieldSource::Kind;

bool is_of_record(const FieldSource& source) {
  return source.kind == Kind::kKey || source.kind == Kind::kHeader || source.kind == Kind::kEnvelope;
}

}  // namespace

bool is_device(std::string_view id) {
  return !id.empty() && id.size() <= kMaxDeviceBytes && std::memchr(id.data(), '\0', id.size()) == nullptr;
}

DeviceParts::DeviceParts(const ReadingShape& shape, Arena& arena)
    : separator_(shape.device_separator), arena_(arena) {
  HF_CHECK(!shape.device.empty());
  for (const std::string& text : shape.device) sources_.push_back(field_source(text));
  for (const FieldSource& source : sources_) {
    any_shared_ |= is_of_record(source);
    all_shared_ &= is_of_record(source);
  }
  shared_.resize(sources_.size());
  parts_.resize(sources_.size());
}

void DeviceParts::take_record(const RecordView& record) {
  if (!any_shared_) return;
  for (std::size_t i = 0; i < sources_.size(); ++i) shared_[i] = shared_part(sources_[i], i, record);
  parts_ = shared_;
}

DeviceField DeviceParts::shared_part(const FieldSource& source, std::size_t index, const RecordView& record) {
  switch (source.kind) {
    case Kind::kKey:
      return record.key ? copied(*record.key) : DeviceField{};
    case Kind::kEnvelope:
      return record.envelope == nullptr ? DeviceField{} : record.envelope->device[index];
    case Kind::kHeader: {
      if (record.headers == nullptr) return {};
      // The last one of a name counts, as for Kafka's own clients.
      const auto found = std::find_if(record.headers->rbegin(), record.headers->rend(),
                                      [&](const RecordHeader& header) { return header.name == source.name; });
      return found == record.headers->rend() || !found->value ? DeviceField{} : copied(*found->value);
    }
    default:
      return {};
  }
}

DeviceField DeviceParts::copied(std::string_view id) {
  if (!is_device(id) || !JsonTokens::is_utf8(id)) return {Malformed::kBadDevice, {}};
  char* const copy = arena_.allocate(id.size());
  std::memcpy(copy, id.data(), id.size());
  return {Malformed::kNone, {copy, id.size()}};
}

void DeviceParts::take_name(const DeviceField& name) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].kind == Kind::kName) parts_[i] = name;
  }
}

DeviceField DeviceParts::joined() {
  std::size_t size = separator_.size() * (parts_.size() - 1);
  for (const DeviceField& part : parts_) {
    if (part.reason != Malformed::kNone) return part;
    size += part.id.size();
  }
  if (size > kMaxDeviceBytes) return {Malformed::kBadDevice, {}};
  char* const begin = arena_.allocate(size);
  char* end = begin;
  for (const DeviceField& part : parts_) {
    if (end != begin) end = std::copy(separator_.begin(), separator_.end(), end);
    end = std::copy(part.id.begin(), part.id.end(), end);
  }
  return {Malformed::kNone, {begin, size}};
}

}  // namespace hourfold
