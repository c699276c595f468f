// The keyspace's work after commands, in slices: write-back, freeing what is dead, expiry, and
// giving up memory.
//
// Invariants
// 1. Nothing is done while the store has failed: what memory has may be all that is left.
// 2. A slice is bounded, so that the loop is never held: each part bounds its own.
// 3. What memory owes the disk is counted anew when a pass has taken something, but only between
//    turns, because the bound of a turn must not change while it is in progress.
#pragma once

#include <cstdint>

#include "storage/burial.h"
#include "storage/debt.h"
#include "storage/passes.h"
#include "storage/reclaimer.h"
#include "storage/store_in_use.h"
#include "storage/turn_in_progress.h"

namespace weir::storage {

class Work {
 public:
  Work(Passes* passes, Reclaimer* reclaimer, Burial* burial, Debt* debt, const TurnInProgress& turn,
       const StoreInUse& store)
      : passes_(*passes),
        reclaimer_(*reclaimer),
        burial_(*burial),
        debt_(*debt),
        turn_(turn),
        store_(store) {}

  // Does a slice. To be called every turn.
  void step(int64_t steady_ns);
  // True while there is work that should go on without waiting for traffic.
  bool wanted() const;

  // True when write-back is so late that no request should be read until step() has caught up.
  bool overloaded() const { return passes_.overloaded(); }
  // True when write-back is late and fails: waiting does not help, because the store has failed.
  bool stuck() const { return passes_.stuck(); }
  // Begins a write-back pass now, which covers everything that is committed.
  void write_back_now() { passes_.begin_now(); }
  bool writing_back() const { return passes_.under_way(); }
  // The failure of the pass that ended last.
  const Status& write_back_failure() const { return passes_.failure(); }
  void set_active_expiry(bool on) { reclaimer_.set_active_expiry(on); }

 private:
  Passes& passes_;
  Reclaimer& reclaimer_;
  Burial& burial_;
  Debt& debt_;
  const TurnInProgress& turn_;
  const StoreInUse& store_;
};

}  // namespace weir::storage
