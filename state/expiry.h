// Adds to a batch what removes every window below an hour but the spared ones.
//
// Spared windows are never touched: they are no victims of a range that a later entry would have to repair,
// so there is nothing to read back, whatever their number (after days without a sink there may be millions).
#pragma once

#include <vector>

#include "core/types.h"

namespace rocksdb {
class DB;
class Status;
class WriteBatch;
}  // namespace rocksdb

namespace hourfold {

// spared is sorted. removed: whether the batch got anything. Windows written later in the same batch survive,
// since entries apply in order.
rocksdb::Status add_expiry(rocksdb::DB& db, HourStart below, const std::vector<WindowKey>& spared,
                           rocksdb::WriteBatch& batch, bool& removed);

}  // namespace hourfold
