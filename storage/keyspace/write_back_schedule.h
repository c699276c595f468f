// When write-backs begin, and what goes with them.
//
// WriteBack does one; here is decided when one is due, when it hurries, and when clients should
// wait for it.
//
// However much a turn has changed, a write-back takes it on in slices, some thousand entries with
// each later turn, and commands that change data wait until all of it is handed to the worker, not
// until it is on disk. What is given up is a bound on what the worker has in hand: a write-back may
// be as large as the largest turn.
//
// Invariants
// 1. A write-back begins only when Reclaimer has nothing that waits to be freed
//    (lists/reclaimer.h), no checkpoint runs, and the store has not failed. It holds because only
//    begin_when_ready() begins one.
// 2. The log is needed from the turn after the written-back one on. The bytes appended since then
//    are those since the write-back began that reached it, so they are noted at its beginning and
//    taken over at its end.
#pragma once

#include <cstdint>

#include "storage/lists/reclaimer.h"
#include "storage/memtable/dirty_bytes.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/working_set.h"
#include "storage/memtable/write_back.h"
#include "storage/store/keyspace_options.h"
#include "storage/store/store_in_use.h"

namespace weir::storage {

class WriteBackSchedule {
 public:
  WriteBackSchedule(WriteBack* write_back, WorkingSet* set, Reclaimer* reclaimer, LogEnd* end,
                    const StoreInUse& store, const TurnInProgress& turn,
                    const DirtyBytes& dirty_bytes, const KeyspaceOptions& options)
      : write_back_(*write_back),
        set_(*set),
        reclaimer_(*reclaimer),
        end_(*end),
        store_(store),
        turn_(turn),
        dirty_bytes_(dirty_bytes),
        options_(options) {}

  // Begins a write-back that is due. What the last turn changed adds to the work units that are
  // owed.
  void begin_round(int64_t steady_ns);
  // Does a step of about `units` work units of the running write-back, if any are owed in this
  // round. False: there was nothing to do.
  bool piece(size_t units);
  bool running() const { return write_back_.running(); }
  // True while there is work that should go on without waiting for traffic.
  bool wants_work() const;
  // True when write-back is so late that commands which change data should wait until it has caught
  // up.
  bool overloaded() const;
  // True when write-back is late and fails: waiting does not help, because the store has failed.
  bool stuck() const;
  // The failure of the write-back that ended last.
  const Status& failure() const { return write_back_.failure(); }
  // Begins a write-back now, which covers everything that is committed.
  void begin_now();
  // True while a write-back runs or waits to begin.
  bool under_way() const { return write_back_.running() || wanted_; }

  // A turn has changed so many entries, and its record has so many bytes.
  void note_turn(size_t changed, size_t bytes) {
    changed_last_turn_ = changed;
    bytes_last_turn_ = bytes;
  }
  size_t changed_last_turn() const { return changed_last_turn_; }
  // The store is gone: what it had not taken waits for the next write-back.
  void abandon();
  // Everything up to the end of the log, as it is now, is in the state.
  void begin_at_end_of_log() {
    log_bytes_at_written_back_turn_ = log_bytes_at_write_back_ = end_.bytes_appended;
  }

 private:
  bool behind(size_t factor) const;
  bool hurries() const;
  void begin_when_due(int64_t steady_ns);
  void begin_when_ready();
  void end_write_back();

  WriteBack& write_back_;
  WorkingSet& set_;
  Reclaimer& reclaimer_;
  LogEnd& end_;
  const StoreInUse& store_;
  const TurnInProgress& turn_;
  const DirtyBytes& dirty_bytes_;
  const KeyspaceOptions& options_;
  bool wanted_ = false;
  int64_t last_steady_ns_ = 0;
  uint64_t log_bytes_at_write_back_ = 0;  // bytes appended when the running write-back began
  uint64_t log_bytes_at_written_back_turn_ =
      0;                          // likewise, of the one that ended last and did not fail
  size_t changed_last_turn_ = 0;  // 0 once the work units for it are owed
  size_t bytes_last_turn_ = 0;    // likewise
  size_t owed_units_ = 0;
};

}  // namespace weir::storage
