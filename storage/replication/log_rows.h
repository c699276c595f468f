// What rows of a stored log mean to a reader. Every engine's backend reads rows and asks this, so
// that "rewound", "trimmed" and "damaged" mean the same everywhere.
#pragma once

#include <vector>

#include "storage/replication/shared_log.h"

namespace weir::storage::replication {

// `rows` are those from log index after.log_index on, in order, as far as they were read; the first
// one proves the identity of `after` and needs no bytes if it stands there. `at_end`: the engine
// had no more rows.
//
// Trimming removes prefixes only, and keeps the last record. So a first row after the place asked
// for means "trimmed", no row at all means that the log ends before it, and a gap between rows is
// neither. Before a backend passes kDamaged on it reads once more.
Read read_from_rows(const Head& after, std::vector<Record> rows, bool at_end);

}  // namespace weir::storage::replication
