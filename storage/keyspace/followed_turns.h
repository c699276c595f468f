// Turns that another keyspace has made: they are looked at, written to the own store's log, and
// applied.
//
// Invariant: nothing is kept of a batch before each new turn of it was looked at. What is in the
// own log is applied at each opening.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/keyspace/list_names.h"
#include "storage/keyspace/live_records.h"
#include "storage/keyspace/replay.h"
#include "storage/keyspace/write_back_schedule.h"
#include "storage/memtable/dirty_bytes.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/working_set.h"
#include "storage/store/keyspace_options.h"
#include "storage/store/store_in_use.h"

namespace weir::storage {

class FollowedTurns {
 public:
  FollowedTurns(WorkingSet* set, LiveRecords* records, TurnInProgress* turn, Replay* replay,
                WriteBackSchedule* schedule, DirtyBytes* dirty_bytes, StoreInUse* store,
                LogEnd* end, const KeyspaceOptions& options)
      : set_(*set),
        records_(*records),
        turn_(*turn),
        replay_(*replay),
        schedule_(*schedule),
        dirty_bytes_(*dirty_bytes),
        store_(*store),
        end_(*end),
        options_(options),
        list_names_(set, records, *turn, *store) {}

  // The keyspace has the turns of its store's log, and no other.
  void begin() { list_names_.begin(elements_bound()); }
  // See Keyspace::follow().
  Status follow(const TurnBatch& batch);

 private:
  ElementsId elements_bound();
  Status append(const TurnBatch& batch);
  Status apply(uint64_t turn, std::string_view record);

  WorkingSet& set_;
  LiveRecords& records_;
  TurnInProgress& turn_;
  Replay& replay_;
  WriteBackSchedule& schedule_;
  DirtyBytes& dirty_bytes_;
  StoreInUse& store_;
  LogEnd& end_;
  const KeyspaceOptions& options_;
  ListNames list_names_;
};

}  // namespace weir::storage
