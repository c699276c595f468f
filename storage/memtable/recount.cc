#include "storage/memtable/recount.h"

#include "storage/memtable/scan.h"
#include "storage/memtable/working_set.h"

namespace weir::storage {
void Recount::note_dropped(WorkingSet* set, uint64_t records_dropped) {
  if (records_dropped == dropped_seen_ && !expired_unseen_) return;
  expired_unseen_ = false;
  dropped_seen_ = records_dropped;
  for (Database& database : set->databases())
    database.count_doubtful |= database.table != nullptr && !database.table->complete;
}

void Recount::stop() {
  database_ = -1;
  table_ = nullptr;
  cursor_ = 0;
  count_ = 0;
}

void Recount::begin(WorkingSet* set, int database) {
  Database& doubtful = set->database(database);
  doubtful.count_doubtful = false;
  stop();
  database_ = database;
  table_ = doubtful.table;
}

void Recount::step(WorkingSet* set, Store* store, int64_t now_ms, size_t records) {
  if (set->counts_are_told()) return stop();
  if (database_ < 0) {
    // The last database is hidden, and its count is never asked for.
    for (size_t i = 0; i + 1 < set->databases().size(); ++i) {
      if (set->databases()[i].count_doubtful) return begin(set, static_cast<int>(i));
    }
    return;
  }
  if (set->table(database_) != table_) return stop();  // cleared or swapped meanwhile
  // An expired record that is still in memory counts: the sweep takes it off the counter later.
  const Status status =
      walk_records(table_, store, {.cursor = cursor_, .count = records, .now_ms = now_ms}, &cursor_,
                   [this](const Seen& seen) {
                     if (seen.in_memory || !seen.expired) ++count_;
                   });
  if (!status.ok()) {
    stop();
  } else if (cursor_ == 0) {
    end(set);
  }
}

void Recount::end(WorkingSet* set) {
  const int database = database_;
  const auto count = static_cast<uint64_t>(count_);
  stop();
  set->set_count(database, count);
}

}  // namespace weir::storage
