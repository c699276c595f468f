// Makes and opens lists of elements, and draws their ids.
//
// Invariants
// 1. No id is used twice, not even after a crash: before a record can name an id, the log holds a
//    bound above it. It holds because each turn that used an id beyond the bound puts a new bound
//    into its record, and a bound whose turn was taken back does not count.
// 2. open() hands out a list only when all of its elements are in memory (list_opening.h).
//
// The states of a list until it dies (reclaimer.h has what follows)
//
//    newborn -- its command is rolled back --> forgotten
//       |
//       | a header names it at the end of the turn
//       v
//     open <-- slices -- opening <-- a command asks for it -- in the state
//       |                                                         ^
//       +-- its header is evicted: first the index, later entries -+
//       +-- no header names it at the end of a turn --> vanished
//       +-- its header expires -----------------------> expired with its header
//
// A newborn list that no header names at the end of its turn vanishes like any other.
#pragma once

#include <optional>

#include "storage/format/element_key.h"
#include "storage/lists/reclaimer.h"
#include "storage/memtable/elements.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/working_set.h"
#include "storage/store/store_in_use.h"

namespace weir::storage {

class Lists {
 public:
  Lists(WorkingSet* set, TurnInProgress* turn, Reclaimer* reclaimer, const StoreInUse& store)
      : set_(*set), turn_(*turn), reclaimer_(*reclaimer), store_(store) {}

  // Makes a list of elements. It is empty and open, and is dropped unless a header names it at the
  // end of the turn.
  ElementsId make(int database, Layout layout);
  // Opens a list. Nothing where reading failed; then the turn's failure() is set. REQUIRES: `id` is
  // new, or was read from a header that this command has looked up.
  std::optional<Elements> open(int database, ElementsId id);
  // Puts every element of a list into another one, of any database. False where reading failed.
  bool copy(int from_database, ElementsId from, int to_database, ElementsId to);

  // The bound that the turn's record must put, if ids were used beyond the one in the log.
  std::optional<ElementsId> new_bound();
  // The log's bound, from its record.
  void set_bound(ElementsId bound) { next_ = bound_ = bound; }
  // The turn that may have held a new bound was taken back.
  void take_back_bound() { bound_ = 0; }

 private:
  WorkingSet& set_;
  TurnInProgress& turn_;
  Reclaimer& reclaimer_;
  const StoreInUse& store_;
  ElementsId next_ = 1;
  ElementsId bound_ = 1;  // no other process can have used an id from here on
};

}  // namespace weir::storage
