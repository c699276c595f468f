// Which WAL files of a RocksDB directory still count. A file whose memtable was flushed stays until
// RocksDB deletes it. What is broken or missing in such files, or between them, means nothing,
// because RocksDB does not read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/format/status.h"

namespace weir::storage {

// The least number that a live file can have, by the last record of a manifest that tells it; 0 if
// none does.
uint64_t first_live_wal(std::string_view manifest);

// Answers the same for a directory, from the manifest that its CURRENT names. A directory without
// databases answers 0; RocksDB itself reports what is wrong with the files.
Status read_first_live_wal(const std::string& directory, uint64_t* number);

}  // namespace weir::storage
