// The end of a turn: one record for all that changed, appended to the log.
//
// The record holds what has become of records, and no commands. So a replay needs neither a clock
// nor a script engine, a standby can apply it, and a key that a turn changed a thousand times is
// written once. What is given up is compactness for a small change of a large value.
//
// Invariants
// 1. The record has the last state of each entry that the turn changed, system records first, and
//    the lists dropped last. Replay learns from the first ones which databases there are, and
//    leaves nothing of a list that the turn both changed and dropped.
// 2. What a turn changed counts as committed only when its record was appended, or when the caller
//    keeps it although the log is owed it. In every other case all of it is taken back. It holds
//    because commit() reaches settle() in these two cases only, and otherwise calls take_back().
// 3. Nothing is reclaimed before the record that says so is in the log, or is owed to it, because
//    commit() calls reclaim_vanished() after settle().
#pragma once

#include <string>

#include "storage/format/record.h"
#include "storage/keyspace/live_records.h"
#include "storage/keyspace/write_back_schedule.h"
#include "storage/lists/lists.h"
#include "storage/store/turn_log.h"

namespace weir::storage {

// The name of a database's system record.
std::string database_record(const WorkingSet& set, size_t database);
inline constexpr std::string_view kDatabaseRecords = "db/";
inline constexpr std::string_view kNextGenerationRecord = "next-incarnation";
inline constexpr std::string_view kNextElementsIdRecord = "next-elements-id";

class TurnCommit {
 public:
  TurnCommit(WorkingSet* set, TurnInProgress* turn, WriteBack* write_back, DirtyBytes* dirty_bytes,
             Reclaimer* reclaimer, LiveRecords* records, Lists* lists, WriteBackSchedule* schedule)
      : set_(*set),
        turn_(*turn),
        write_back_(*write_back),
        dirty_bytes_(*dirty_bytes),
        reclaimer_(*reclaimer),
        records_(*records),
        lists_(*lists),
        schedule_(*schedule) {}

  // See Keyspace::commit_turn(). Marks the store as failed where the append has. `log` may be
  // null only if the store has failed.
  Status commit(TurnLog* log, StoreInUse* store, LogEnd* end, bool keep_on_failure);

 private:
  Status append(TurnLog* log, StoreInUse* store, LogEnd* end);
  void put_database_records();
  void put_elements_record();
  void encode_changes();
  void encode(const Entry* entry);
  void settle();
  void take_back();
  void retire_unused_tables();

  WorkingSet& set_;
  TurnInProgress& turn_;
  WriteBack& write_back_;
  DirtyBytes& dirty_bytes_;
  Reclaimer& reclaimer_;
  LiveRecords& records_;
  Lists& lists_;
  WriteBackSchedule& schedule_;
  TurnRecordWriter record_;
  std::string name_;  // of an element, while it is encoded
};

}  // namespace weir::storage
