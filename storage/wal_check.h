// Looks at the write-ahead log of a RocksDB directory before RocksDB does, and makes it one that
// RocksDB reads without doubt. What a kill or a power cut left unfinished at the end is cut off; a
// log of which something was destroyed is refused.
//
// Invariants
// 1. Nothing is changed unless everything can be accepted: all files are judged before one is cut.
// 2. A turn that a later record calls synced is not given up. Where what is lost cannot be named
//    (the beginning of the first file), the caller looks at WalReport::synced_turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/status.h"
#include "storage/wal_scan.h"

namespace weir::storage {

struct WalFile {
  std::string path;
  uint64_t size = 0;
  WalScan scan = {};
  uint64_t kept_bytes = 0;  // the verdict
};

struct WalReport {
  uint64_t bytes = 0;  // bytes that were kept
  // The newest turn that any record, kept or not, calls synced: the database must have it.
  uint64_t synced_turn = 0;
  std::string note;  // what was cut off; empty for a log in good order
};

// Judges the files and sets each one's kept_bytes. REQUIRES: the files are in the order of their
// numbers.
Status judge_wal(std::vector<WalFile>* files, std::string* note);

// Looks at the files that RocksDB will read. A directory that does not exist has an empty log.
Status check_wal(const std::string& directory, WalReport* report);

}  // namespace weir::storage
