// Applies the records of turns: those of the own log when it is opened, and those of another
// keyspace's log to one that is loaded and in use.
//
// What the two have in common is that a record has the last state of everything that its turn
// changed. So applying it is putting entries, and never running a command. The live form must also
// keep what only a loaded keyspace has: indexes of open lists, watches, headers that have expired
// but are not reclaimed, tables that a write-back points into.
//
// Invariants
// 1. A follower's instant is that of the newest turn applied, at most. So whatever has expired for
//    it has expired for the other keyspace in all later turns, and no later record can name a list
//    of a header that the follower has taken for dead. It holds because follow() moves the instant
//    on only after the record was applied, and the caller begins commands at no later instant.
// 2. A list of elements dies with its last name here, too. A record names the lists that its turn
//    dropped, but not those that the other keyspace had erased before, with a header that had
//    expired; so the names in the values that the record replaces are compared with those in the
//    values that it brings. For that an old value is read from the state where memory lacks it. The
//    own log, when it is opened, is not compared so: elements that died unnamed in the turns after
//    the written-back one stay in the state, under ids that nobody names.
// 3. An entry that changes leaves the index of its list before and enters it after, if the list is
//    open, or is being opened and the opening has passed the entry's place.
// 4. A record that could not be applied whole can be applied again: it has states, not changes, and
//    the names found so far are kept.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/format/record.h"
#include "storage/keyspace/live_records.h"
#include "storage/lists/lists.h"
#include "storage/lists/reclaimer.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/watches.h"
#include "storage/memtable/working_set.h"
#include "storage/memtable/write_back.h"

namespace weir::storage {

class Replay {
 public:
  Replay(WorkingSet* set, TurnInProgress* turn, WriteBack* write_back, Reclaimer* reclaimer,
         LiveRecords* records, Lists* lists, Watches* watches)
      : set_(*set),
        turn_(*turn),
        write_back_(*write_back),
        reclaimer_(*reclaimer),
        records_(*records),
        lists_(*lists),
        watches_(*watches) {}

  // Applies a record while the store is opened: on top of a state that may be newer than the record
  // in places, and whose entries are not in memory.
  Status apply_at_opening(std::string_view record, LogEnd* end);
  // Applies a record to a keyspace in use. REQUIRES: no turn is in progress.
  Status follow(std::string_view record, LogEnd* end);
  // Learns from the system records which databases there are, and the bounds of used numbers.
  void load_databases();
  // How many records the last follow() changed.
  size_t changed() const { return changed_; }

 private:
  Status apply(std::string_view record, LogEnd* end);
  Status apply_entry(const TurnEntry& change);
  Status apply_system(const TurnEntry& change);
  Status apply_record(Table* table, const TurnEntry& change);
  Status apply_element(Table* table, const TurnEntry& change);
  Status find_old(Table* table, KeyOrder key_order, const TurnEntry& change, Entry** entry);
  void set_entry(Table* table, Entry* entry, const TurnEntry& change);
  Entry* find_or_insert(Table* table, KeyOrder key_order, std::string_view key, size_t bytes);
  void name_table(size_t database, Generation generation);

  WorkingSet& set_;
  TurnInProgress& turn_;
  WriteBack& write_back_;
  Reclaimer& reclaimer_;
  LiveRecords& records_;
  Lists& lists_;
  Watches& watches_;
  bool live_ = false;            // whether the record is applied by follow()
  bool system_changed_ = false;  // the record has changed system records since load_databases()
  size_t changed_ = 0;
};

}  // namespace weir::storage
