// Looks at the write-ahead log of a RocksDB directory before RocksDB does, and makes it one that
// RocksDB reads without doubt. What a kill or a power cut left unfinished at the end is cut off; a
// log of which something was destroyed is refused.
//
// Invariants
// 1. Nothing is changed unless everything can be accepted: all files are judged before one is cut.
// 2. A turn that a later record or the directory's SYNCED calls synced is not given up. Where what
//    is lost cannot be named (the beginning of the first file), the caller looks at
//    WalReport::synced_turn.
// 3. What is kept has no hole: neither between two files nor between what the caller has elsewhere
//    and the first of them. A power cut may take away an older file's turns and leave a later's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/format/status.h"
#include "storage/rocks/wal_scan.h"

namespace weir::storage {

struct WalFile {
  std::string path;
  uint64_t size = 0;
  WalScan scan = {};
  uint64_t kept_bytes = 0;  // the verdict
};

struct WalReport {
  uint64_t bytes = 0;  // bytes that were kept
  // The newest turn that any record, kept or not, or SYNCED calls synced: the database must have
  // it.
  uint64_t synced_turn = 0;
  std::string note;  // what was cut off; empty for a log in good order
};

// Judges the files and sets each one's kept_bytes. `covered`: the turns up to this one are
// elsewhere, in tables or in the state; nullopt: that is not known. `synced_turn`: what SYNCED
// tells (synced_mark.h). REQUIRES: the files are in the order of their numbers.
Status judge_wal(std::vector<WalFile>* files, std::optional<uint64_t> covered, uint64_t synced_turn,
                 std::string* note);

// Looks at the files that RocksDB will read, and says what check_wal() would cut off them. Changes
// nothing.
Status inspect_wal(const std::string& directory, std::optional<uint64_t> covered,
                   WalReport* report);

// Looks at the files that RocksDB will read. A directory that does not exist has an empty log.
Status check_wal(const std::string& directory, std::optional<uint64_t> covered, WalReport* report);

}  // namespace weir::storage
