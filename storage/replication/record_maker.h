// Makes the records that a member appends.
#pragma once

#include <cstddef>
#include <string>

#include "storage/replication/held_turns.h"
#include "storage/replication/log_state.h"
#include "storage/replication/record.h"

namespace weir::storage::replication {

struct RecordOptions {
  uint64_t shard = 0;                     // the checksum that every record of the shard carries
  uint8_t version = kFirstRecordVersion;  // see record_version_of()
  size_t record_bytes_max = 256 * 1024;   // of turns put together in one record
  size_t part_bytes_max = 0;              // 0: never PARTs; else what a larger turn is cut into
};

class RecordMaker {
 public:
  explicit RecordMaker(const RecordOptions& options) : options_(options) {}

  std::string make(const LogState& log_state, uint64_t nonce, const Body& body) const;
  // Puts together as many turns as fit of those that `log_state` lacks, at least one; or the next
  // PART of the next turn. REQUIRES: held.newest() >= log_state.next_turn().
  std::string make_turns(const LogState& log_state, uint64_t nonce, const HeldTurns& held) const;

 private:
  bool needs_parts(const std::string& turn) const {
    return options_.part_bytes_max != 0 && turn.size() > options_.part_bytes_max;
  }
  Part next_part(const LogState& log_state, const std::string& turn) const;

  const RecordOptions options_;
};

}  // namespace weir::storage::replication
