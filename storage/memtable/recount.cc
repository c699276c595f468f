#include "storage/memtable/recount.h"

#include "storage/memtable/scan.h"
#include "storage/memtable/working_set.h"

namespace weir::storage {
namespace {

void begin_count(WorkingSet* set, int database) {
  Database& doubtful = set->database(database);
  doubtful.count_doubtful = false;
  set->count_in_progress() = {.database = database, .table = doubtful.table};
}

void end_count(WorkingSet* set) {
  const CountInProgress ended = set->count_in_progress();
  set->count_in_progress() = {};
  set->set_count(ended.database, static_cast<uint64_t>(ended.count));
}

}  // namespace

void recount_slice(WorkingSet* set, Store* store, int64_t now_ms, size_t records) {
  CountInProgress& counting = set->count_in_progress();
  if (set->counts_are_told()) {
    counting = {};
    return;
  }
  if (counting.database < 0) {
    // The last database is hidden, and its count is never asked for.
    for (size_t i = 0; i + 1 < set->databases().size(); ++i) {
      if (set->databases()[i].count_doubtful) return begin_count(set, static_cast<int>(i));
    }
    return;
  }
  if (set->table(counting.database) != counting.table) {  // cleared or swapped meanwhile
    counting = {};
    return;
  }
  // An expired record that is still in memory counts: the eviction scan takes it off the counter
  // later.
  const Status status = walk_records(
      counting.table, store, {.cursor = counting.cursor, .count = records, .now_ms = now_ms},
      &counting.cursor, [&counting](const Seen& seen) {
        if (seen.in_memory || !seen.expired) ++counting.count;
      });
  if (!status.ok()) {
    counting = {};
  } else if (counting.cursor == 0) {
    end_count(set);
  }
}

}  // namespace weir::storage
