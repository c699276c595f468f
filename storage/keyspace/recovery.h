// Recovery, when the data is opened: reads the system records from the state, replays the log from
// the turn after the written-back one on, and learns which databases have anything in the state.
// Nothing else is loaded.
//
// Invariants
// 1. Nothing is refused after something was changed on disk: opening only reads, save that a new
//    directory gets its databases as its first turn, which the caller commits.
// 2. No record of a generation that lost its database comes back to life: what the state has of
//    one goes to Reclaimer, which erases it with the next write-back.
#pragma once

#include "storage/keyspace/live_records.h"
#include "storage/keyspace/replay.h"
#include "storage/lists/reclaimer.h"
#include "storage/memtable/working_set.h"
#include "storage/store/keyspace_options.h"
#include "storage/store/store.h"

namespace weir::storage {

class Recovery {
 public:
  Recovery(WorkingSet* set, LiveRecords* records, Reclaimer* reclaimer, Replay* replay)
      : set_(*set), records_(*records), reclaimer_(*reclaimer), replay_(*replay) {}

  // Who is told, now and then, how much of the log was replayed.
  struct Watch {
    const OpeningWatch& watch;
    uint64_t last_turn;
  };
  // Fills the empty working set, and moves `end` to the end of the log.
  Status fill(Store* store, LogEnd* end, const Watch& watch);
  // Checks the databases, and makes those that are missing unless `follows`.
  Status check(Store* store, bool follows);
  // Makes the databases that no turn has made, as changes of the turn in progress.
  void create_missing_databases();

 private:
  Status load_system_records(Store* store);
  Status replay_log(Store* store, LogEnd* end, const Watch& watch);
  Status check_number_of_databases() const;
  Status look_over_generations(Store* store);
  void look_at(Generation generation);

  WorkingSet& set_;
  LiveRecords& records_;
  Reclaimer& reclaimer_;
  Replay& replay_;
};

}  // namespace weir::storage
