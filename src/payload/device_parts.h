// The device of a reading, of one part or several: from the payload, the record's key or headers, or the
// document around.
//
// Threads: none of its own. Ownership: ids are the caller's or lie in its arena.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/field_source.h"
#include "payload/arena.h"
#include "payload/payload_parser.h"

namespace hourfold {

// 1 to 256 bytes without NUL; UTF-8 is the caller's to see to.
bool is_device(std::string_view id);

class DeviceParts {
 public:
  DeviceParts(const ReadingShape& shape, Arena& arena);

  const std::vector<FieldSource>& sources() const { return sources_; }

  // What all readings of the record share. The arena has been reset.
  void take_record(const RecordView& record);
  // A new reading: what the payload says is unknown again.
  void next_reading() {
    if (!all_shared_) parts_ = shared_;
  }
  DeviceField& part(std::size_t index) { return parts_[index]; }
  // Where the shape wants the name that the payload gives, if it does.
  void take_name(const DeviceField& name);
  // All parts, or the reason of the first that is none.
  DeviceField whole() { return parts_.size() == 1 ? parts_.front() : joined(); }

 private:
  DeviceField shared_part(const FieldSource& source, std::size_t index, const RecordView& record);
  DeviceField copied(std::string_view id);
  DeviceField joined();

  std::vector<FieldSource> sources_;
  std::string separator_;
  bool any_shared_ = false;
  bool all_shared_ = true;
  Arena& arena_;
  std::vector<DeviceField> shared_;  // by part, of the record
  std::vector<DeviceField> parts_;   // of the reading
};

}  // namespace hourfold
