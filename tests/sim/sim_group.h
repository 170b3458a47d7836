// A consumer group's view of one partition: who owns it, and the offset committed. Commits of a member that
// is no longer the owner are rejected, as the broker's generation check does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ports/record_source.h"
#include "sim/sim_table.h"

namespace hourfold::test {

class SimGroup {
 public:
  explicit SimGroup(SimFindings& findings) : findings_(findings) {}

  int begin_epoch() { return ++epoch_; }
  int epoch() const { return epoch_; }
  const std::optional<CommittedOffset>& committed() const { return committed_; }

  // False: the member has been replaced.
  bool commit(int epoch, const CommittedOffset& offset) {
    if (epoch != epoch_) return false;
    if (committed_ && offset.next < committed_->next) {
      findings_.add("committed back",
                    std::to_string(committed_->next.value) + " -> " + std::to_string(offset.next.value));
    }
    committed_ = offset;
    return true;
  }
  void lose_metadata() {
    if (committed_) committed_->metadata.clear();
  }

 private:
  SimFindings& findings_;
  int epoch_ = 0;
  std::optional<CommittedOffset> committed_;
};

}  // namespace hourfold::test
