// Reads the bytes of one of RocksDB's write-ahead log files as FORMAT.md describes them, and says
// how far they are what was written. Pure: no I/O, no RocksDB.
//
// RocksDB's own recovery treats whatever follows a broken record as lost. Here it decides: if
// nothing follows, the end was not written; if valid records follow, something was destroyed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::storage {

struct WalScan {
  uint64_t valid_bytes = 0;  // up to the end of the last whole record
  bool broken = false;       // after them comes something other than the file's end

  // Tells of a broken file that bytes never reached the disk (the file ends, or a page of zeros
  // lies where data must be), as opposed to bytes that were changed.
  bool unwritten = false;
  std::optional<uint64_t> valid_record_behind;  // its offset

  // These tell of the valid records and of those after the break. Turns count from 1; 0 is none.
  uint64_t first_turn = 0;
  uint64_t last_turn = 0;
  // The newest turn that a record calls synced.
  uint64_t synced_turn = 0;
  uint64_t synced_turn_behind = 0;
};

WalScan scan_wal(std::string_view bytes);

}  // namespace weir::storage
