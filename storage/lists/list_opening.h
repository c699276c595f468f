// Opening long lists of elements, slice by slice.
//
// A list that is not in memory is read when it is first asked for: a short one at once, a long one
// a slice at a time. While slices are missing, Lists::open() answers null and failure()
// is Status::not_yet(). The caller then rolls the command back and runs it again, at once or in a
// later turn so that other commands come in between; each time the list is one slice further.
//
// No command knows of this. Transactions, and waiters that are served, try again at once, because
// nothing may come in between. A list is open as a whole or not at all, because its index answers
// ranks. What is given up are collections larger than memory, and a first use after an eviction
// takes time by the size.
//
// Invariants
// 1. A list that is being opened is already among the open lists, so that its entries stay in
//    memory and a command that drops it finds it; but Lists::open() hands it out only when it is
//    whole.
// 2. No command changes such a list, because none can get it; a replayed record may, and keeps what
//    was read right (keyspace/replay.h). Each slice reads the newest state, because a write-back
//    may have ended meanwhile.
// 3. The header of a list that took several slices stays in memory for kLongListKeptMs after its
//    last use. Otherwise a working set too small for the list would open it for ever.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time_units.h"
#include "storage/format/status.h"
#include "storage/memtable/elements_index.h"
#include "storage/memtable/table.h"
#include "storage/store/store.h"

namespace weir::storage {

inline constexpr size_t kOpeningSliceElements = 1000;  // a few milliseconds
inline constexpr int64_t kLongListKeptMs = kMsPerS;

// Reads the next slice of a list that is being opened. Ok when it is whole, kNotYet when slices are
// missing. `store` may be null only if the table is complete.
Status open_slice(Table* table, ElementsIndex* list, Store* store, const HashSeed& seed);

}  // namespace weir::storage
