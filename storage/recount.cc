// Counting a database anew, in slices.
//
// A database's counter follows every change that the keyspace sees. What it cannot see is a key
// that expires while only the store has it: reads hide it, the compaction filter drops it, and the
// counter keeps it. So after opening, and after the filter has dropped records, the databases that
// are not wholly in memory are walked once, a little at a time.
#include "storage/keyspace.h"

namespace weir::storage {
namespace {

constexpr size_t kRecordsPerSlice = 1000;

}  // namespace

void Keyspace::note_dropped_records() {
  const uint64_t dropped = store_->figures().records_dropped;
  if (dropped == dropped_records_seen_ && !owners_buried_unseen_) return;
  owners_buried_unseen_ = false;
  dropped_records_seen_ = dropped;
  for (Database& database : databases_) database.count_doubtful |= !database.table->complete;
}

void Keyspace::begin_recount(int database) {
  databases_[static_cast<size_t>(database)].count_doubtful = false;
  recount_ = {.database = database,
              .table = databases_[static_cast<size_t>(database)].table,
              .cursor = 0,
              .count = 0};
}

// Does a slice of a recount. REQUIRES: no turn is in progress.
void Keyspace::step_recount() {
  if (recount_.database < 0) {
    for (int i = 0; i < databases(); ++i) {
      if (databases_[static_cast<size_t>(i)].count_doubtful) return begin_recount(i);
    }
    return;
  }
  const Database& database = databases_[static_cast<size_t>(recount_.database)];
  if (database.table != recount_.table) {  // cleared or swapped meanwhile
    recount_ = {};
    return;
  }
  // An expired record that is still in memory counts: the sweep takes it off the counter later.
  recount_.cursor =
      walk(recount_.database, recount_.cursor, kRecordsPerSlice, [this](const Seen& seen) {
        if (seen.in_memory || !seen.expired) ++recount_.count;
      });
  if (!failure_.ok()) {
    recount_ = {};
  } else if (recount_.cursor == 0) {
    end_recount();
  }
}

void Keyspace::end_recount() {
  Database& database = databases_[static_cast<size_t>(recount_.database)];
  const auto count = static_cast<uint64_t>(recount_.count);
  recount_ = {};
  if (database.count == count) return;
  database.count = count;
  database.changed = databases_changed_ = true;
}

}  // namespace weir::storage
