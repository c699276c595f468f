// What a keyspace is told, and what it tells of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "storage/store/turn_log.h"

namespace weir::storage {

class Meaning;

struct KeyspaceOptions {
  int databases = 16;
  // Bound of the working set; beyond it clean entries are given up.
  size_t memory_bytes_max = SIZE_MAX;
  size_t name_bytes_max = SIZE_MAX;   // of names that commands make (format/name_bound.h)
  size_t unwritten_max = 500'000;     // with more entries newer than the state, write-back hurries
  uint64_t log_bytes_max = 64 << 20;  // with more bytes that are not written back, it hurries
  int64_t write_back_interval_ns = 5'000'000'000;
  // True while the turns of another keyspace are applied (Keyspace::follow): no turn of its own may
  // change anything, and DBSIZE is what the other one says.
  bool follows = false;
  // Where turns are appended; null: in the store's own log. It must live as long as the keyspace.
  // The store's own log gets them once they are committed there (Keyspace::follow, log_committed).
  TurnLog* log = nullptr;
  // Asked about the records of turns that are followed; null: nothing is known of types.
  std::shared_ptr<Meaning> meaning = nullptr;

  // One more database, which no client can select; only time removes its records.
  int hidden_database() const { return databases; }
};

struct KeyspaceMetrics {
  uint64_t turn = 0;       // the newest committed turn
  int64_t instant_ns = 0;  // the newest instant that any turn used
  uint64_t written_back_turn = 0;
  size_t entries = 0;    // in memory
  size_t unwritten = 0;  // entries that are newer than the state
  size_t bytes = 0;      // size of the working set
  uint64_t misses = 0;   // look-ups answered from the store
  uint64_t expired = 0, evicted = 0;
  uint64_t log_bytes_appended = 0;
};

// What of memory stays when the store is opened anew.
enum class Keep {
  kNothing,    // it is filled from the store
  kAll,        // what is in memory wins, and is written to the log whole
  kCommitted,  // all, if the store's log has all of it; else nothing
};

// The end of the log, as the keyspace knows it.
struct LogEnd {
  uint64_t turn = 0;              // the newest turn
  uint64_t logged_turn = 0;       // the newest one in the store's own log
  int64_t instant_ns = 0;         // the newest instant that any turn used
  int64_t logged_instant_ns = 0;  // the same of those turns that the store's own log has
  uint64_t bytes_appended = 0;    // since start, and those replayed
};

}  // namespace weir::storage
