// The store on RocksDB: a data directory with two databases, `log/` for the turns and `state/` for
// the records. FORMAT.md says what is in it.
//
// The log is written on the calling thread, one put per turn without a sync, and synced on a thread
// of its own. The state is never written through a memtable: a worker thread writes each write-back
// into one sorted file and ingests it, so a write-back is atomic and durable as a whole, and the
// calling thread never meets its fsyncs.
//
// Against puts into a memtable, a write-back as a file saves the second write into a write-ahead
// log, the skip list and the flush. Log and state are two databases because the ingestion of a file
// holds up every writer of its database until the manifest is synced, and the append of a turn may
// not wait for that. What is given up is one atomic write over both: a write-back syncs the log
// before its file becomes visible.
#pragma once

#include <memory>

#include "storage/rocks/rocks_settings.h"
#include "storage/store/store.h"

namespace weir::storage {

std::unique_ptr<Store> make_rocks_store(RocksOptions options);

}  // namespace weir::storage
