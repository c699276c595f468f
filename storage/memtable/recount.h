// Counting a database anew, in slices.
//
// A database's counter follows every change that the keyspace sees. What it cannot see is a key
// that expires while only the store has it: reads hide it, the compaction filter drops it or
// another value replaces it, and the counter keeps it. So after opening, and after a pass before
// which such a key was read or the filter dropped records, the databases that are not wholly in
// memory are walked once, a little at a time.
//
// Invariants
// 1. A count that is being made has the keys before its cursor, as they are now. It holds because
//    the working set tells of every key that comes or goes, and those before the cursor are added
//    or subtracted.
// 2. A count ends only where it began: a database that has got another table meanwhile is counted
//    from its start, because step() compares the tables.
#pragma once

#include <cstdint>

#include "storage/format/position.h"

namespace weir::storage {

class Store;
class Table;
class WorkingSet;

class Recount {
 public:
  // A key of a table came (1) or went (-1).
  void note_key(const Table* table, Position position, int change) {
    if (table_ == table && cursor_of(position) < cursor_) count_ += change;
  }
  // An expired record was read from the store, and it is unknown whether a counter still includes
  // it.
  void note_unseen_expiry() { expired_unseen_ = true; }
  // Called after a pass, with the number of records that the filter has dropped since start.
  void note_dropped(WorkingSet* set, uint64_t records_dropped);
  // Does a slice of a count, of so many records. REQUIRES: no turn is in progress.
  void step(WorkingSet* set, Store* store, int64_t now_ms, size_t records);
  // Forgets the count that is being made.
  void stop();

 private:
  void begin(WorkingSet* set, int database);
  void end(WorkingSet* set);

  int database_ = -1;  // -1: no count is being made
  const Table* table_ = nullptr;
  uint64_t cursor_ = 0;
  int64_t count_ = 0;
  uint64_t dropped_seen_ = 0;
  bool expired_unseen_ = false;
};

}  // namespace weir::storage
