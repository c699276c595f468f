// Which WAL files of a RocksDB directory still count. A file whose memtable was flushed stays until
// RocksDB comes to delete it, and what is broken or missing in it or between such files means
// nothing: RocksDB does not read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/status.h"

namespace weir::storage {

// The number that files must have at least, by the last record of a manifest that tells it. 0:
// none.
uint64_t first_live_wal(std::string_view manifest);

// The same of a directory, from the manifest that its CURRENT names. A directory without databases
// answers 0; what is wrong with the files is RocksDB's to say.
Status read_first_live_wal(const std::string& directory, uint64_t* number);

}  // namespace weir::storage
