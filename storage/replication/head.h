// A place in the shared log.
#pragma once

#include <cstdint>

namespace weir::storage::replication {

// The identity of a record: its log index and the CRC-64 of its bytes. Log indexes are 1, 2, 3 ...
// without gaps; {0, 0} stands before the first record. A log engine that lost its end hands out the
// same log indexes again, but every record holds a new random number, so an identity does not come
// again: nothing may compare bare log indexes where it means records.
struct Head {
  uint64_t log_index = 0;
  uint64_t crc = 0;

  bool operator==(const Head&) const = default;
};

}  // namespace weir::storage::replication
