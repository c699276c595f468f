// Counting a database anew, in slices.
//
// A database's counter follows every change that the keyspace sees. What it cannot see is a key
// that expires while only the store has it: reads hide it, the compaction filter drops it or
// another value replaces it, and the counter keeps it. So after opening, and after a write-back
// before which such a key was read or the filter dropped records, the databases that are not wholly
// in memory are walked once, a little at a time.
//
// Invariants
// 1. A count that is being made has the keys before its cursor, as they are now. It holds because
//    the working set tells it of every key that comes or goes, and those before the cursor are
//    added or subtracted.
// 2. A count ends only where it began: a database that has got another table meanwhile is counted
//    from its start, because recount_slice() compares the tables.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::storage {

class Store;
class WorkingSet;

// Does a slice of a count, of so many records. REQUIRES: no turn is in progress.
void recount_slice(WorkingSet* set, Store* store, int64_t now_ms, size_t records);

}  // namespace weir::storage
