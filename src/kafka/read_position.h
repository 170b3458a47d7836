// Where one partition is read, and which of what librdkafka gives out is given on.
//
// The end of a partition (RD_KAFKA_RESP_ERR__PARTITION_EOF) carries the offset that librdkafka would fetch
// next: beyond the last record where transaction markers, records of aborted transactions or compacted ones
// end the log. It moves the position only while it is certain that nothing between the two was dropped here.
#pragma once

#include "core/types.h"

namespace hourfold::kafka {

struct ReadPosition {
  bool owned = false;
  bool reading = false;  // start_reading() was called, and no out-of-range since
  bool held = false;     // pause() was called
  Offset next{0};        // what will be given out next

  bool reads() const { return owned && reading && !held; }
  // Librdkafka stands at `next`, paused or not as it should be, and what it gave out before is outdated.
  bool settled() const { return settled_; }
  void settle() { settled_ = whole_ = true; }
  void unsettle() { settled_ = false; }
  // A record may have been dropped.
  void missed() { whole_ = false; }

  // True: the record is to be given on.
  bool take(Offset record) {
    if (!reads() || !settled_) {
      missed();
      return false;
    }
    if (record < next) return false;
    next = record.next();
    return true;
  }
  // True: there is no record from `next` on below this end, and `next` is there now.
  bool reach(Offset end) {
    if (!reads() || !settled_ || !whole_ || end <= next) return false;
    next = end;
    return true;
  }

 private:
  bool settled_ = false;
  bool whole_ = false;  // all records from `next` on were given on since settle()
};

}  // namespace hourfold::kafka
