// The store on RocksDB: a data directory with two databases, `log/` for the turns and `state/` for
// the records. FORMAT.md says what is in it.
//
// The log is written on the calling thread, one put per turn without a sync, and synced on a thread
// of its own. The state is never written through a memtable: a worker thread writes each pass into
// one sorted file and ingests it, so a pass is atomic and durable as a whole, and the calling
// thread never meets its fsyncs.
#pragma once

#include <memory>

#include "storage/rocks/rocks_settings.h"
#include "storage/store/store.h"

namespace weir::storage {

std::unique_ptr<Store> make_rocks_store(RocksOptions options);

}  // namespace weir::storage
