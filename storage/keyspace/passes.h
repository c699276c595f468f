// When write-back passes begin, and what goes with them.
//
// WriteBack does a pass; here is decided when one is due, when it hurries, and when clients should
// wait for it.
//
// However much a turn has changed, a pass takes it on in slices, some thousand entries with each
// later turn, and commands that change data wait until all of it is handed to the worker, not until
// it is on disk. What is given up is a bound on what the worker has in hand: a pass may be as large
// as the largest turn.
//
// Invariants
// 1. A pass begins only when Burial has nothing that waits to be freed (lists/burial.h), no
//    checkpoint runs, and the store has not failed. It holds because only begin_when_ready() begins
//    one.
// 2. The log is needed from the turn after W on. The bytes appended since then are those since the
//    pass began that set W, so they are noted at its beginning and taken over at its end.
#pragma once

#include <cstdint>

#include "storage/lists/burial.h"
#include "storage/memtable/debt.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/working_set.h"
#include "storage/memtable/write_back.h"
#include "storage/store/keyspace_options.h"
#include "storage/store/store_in_use.h"

namespace weir::storage {

class Passes {
 public:
  Passes(WriteBack* pass, WorkingSet* set, Burial* burial, LogEnd* end, const StoreInUse& store,
         const TurnInProgress& turn, const Debt& debt, const KeyspaceOptions& options)
      : pass_(*pass),
        set_(*set),
        burial_(*burial),
        end_(*end),
        store_(store),
        turn_(turn),
        debt_(debt),
        options_(options) {}

  // Begins a pass that is due. What the last turn changed adds to the looks that are owed.
  void begin_round(int64_t steady_ns);
  // Does a step of about `looks` looks of the running pass, if any are owed in this round. False:
  // there was nothing to do.
  bool piece(size_t looks);
  bool running() const { return pass_.running(); }
  // True while there is work that should go on without waiting for traffic.
  bool wants_work() const;
  // True when write-back is so late that commands which change data should wait until it has caught
  // up.
  bool overloaded() const;
  // True when write-back is late and fails: waiting does not help, because the store has failed.
  bool stuck() const;
  // The failure of the pass that ended last.
  const Status& failure() const { return pass_.failure(); }
  // Begins a pass now, which covers everything that is committed.
  void begin_now();
  // True while a pass runs or waits to begin.
  bool under_way() const { return pass_.running() || wanted_; }

  // A turn has changed so many entries, and its record has so many bytes.
  void note_turn(size_t changed, size_t bytes) {
    changed_last_turn_ = changed;
    bytes_last_turn_ = bytes;
  }
  size_t changed_last_turn() const { return changed_last_turn_; }
  // The store is gone: what it had not taken waits for the next pass.
  void abandon();
  // Everything up to the end of the log, as it is now, is in the state.
  void begin_at_end_of_log() { log_bytes_at_w_ = log_bytes_at_pass_ = end_.bytes_appended; }

 private:
  bool behind(size_t factor) const;
  bool hurries() const;
  void begin_when_due(int64_t steady_ns);
  void begin_when_ready();
  void end_pass();

  WriteBack& pass_;
  WorkingSet& set_;
  Burial& burial_;
  LogEnd& end_;
  const StoreInUse& store_;
  const TurnInProgress& turn_;
  const Debt& debt_;
  const KeyspaceOptions& options_;
  bool wanted_ = false;
  int64_t last_steady_ns_ = 0;
  uint64_t log_bytes_at_pass_ = 0;  // bytes appended when the running pass began
  uint64_t log_bytes_at_w_ = 0;     // bytes appended when the pass that set W began
  size_t changed_last_turn_ = 0;    // 0 once the looks for it are owed
  size_t bytes_last_turn_ = 0;      // likewise
  size_t owed_looks_ = 0;
};

}  // namespace weir::storage
