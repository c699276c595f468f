// Reads the tables of a data directory's two databases, block by block, and compares every
// checksum.
//
// It opens them on its own, changes nothing, and looks at the tables that are in use: what a
// process that died has left half written is none. The write-ahead log has checksums of its own,
// which an opening compares (wal_check.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/rocks/rocks_store.h"

namespace weir::storage {

struct VerifyReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
  std::vector<std::string> damage;  // a line for each file that cannot be read, which names it
};

// Calls `tell` after each file with the bytes so far and in all.
VerifyReport verify_tables(const RocksOptions& options,
                           const std::function<void(uint64_t done, uint64_t all)>& tell);

}  // namespace weir::storage
