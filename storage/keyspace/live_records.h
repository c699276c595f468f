// The records as commands see them: found in memory or read from the state, put, erased, and hidden
// once their time has ended.
//
// Invariants
// 1. A read that fails never looks like an absent key. find() says so in the turn's failure, put()
//    then makes no entry from the missing answer, and the caller discards the command's outcome.
// 2. An expiry writes nothing to the log: a replay hides the record by the same expiry. A header
//    record that expires keeps its value, hidden, until Reclaimer has taken it with its lists. An
//    entry that is dirty when it expires is written back as a deletion, because the state may hold
//    an older value without that expiry.
// 3. No command makes a record with a longer name than it may (format/name_bound.h).
// 4. Every change was saved in the turn in progress before, save an expiry, which no roll-back
//    takes back. If the turn itself has changed a header, its expiry is a change, too.
//
// The states of a header record (lists/reclaimer.h has those of its lists)
//
//    in the state alone <-- evicted, if clean -- live -- erased, renamed, replaced --> absent
//        |      |                                ^  |
//        |      +-- a look-up reads it ----------+  | its time ends: a look-up or the scan sees it
//        |                                          v
//        +-- it is read after its time -----> unreclaimed -- reclaim_expired() -> erased and dirty
//                                                   |                                 |
//                                                   | a put                           | write-back
//                                                   v                                 v
//                                       live; its old lists are                     gone
//                                       reclaimed all the same
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/lists/reclaimer.h"
#include "storage/memtable/key_events.h"
#include "storage/memtable/ref.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/watches.h"
#include "storage/memtable/working_set.h"
#include "storage/store/store_in_use.h"

namespace weir::storage {

class LiveRecords {
 public:
  LiveRecords(WorkingSet* set, TurnInProgress* turn, Reclaimer* reclaimer, Watches* watches,
              KeyEvents* events, const StoreInUse& store)
      : set_(*set),
        turn_(*turn),
        reclaimer_(*reclaimer),
        watches_(*watches),
        events_(*events),
        store_(store) {}

  Ref look_up(int database, std::string_view key);
  void put(Ref* ref, Type type, std::string_view value, int64_t expire_at_ms);
  void set_expiry(Ref* ref, int64_t expire_at_ms);
  void erase(Ref* ref);
  void rename(Ref* from, Ref* to);

  Ref look_up_system(std::string_view key);
  void put_system(std::string_view key, std::string_view value);

  void clear(int database);
  void swap(int first, int second);

  // The entry of a key, read from the state if it is not in memory. Null if there is none, or if
  // reading failed.
  Entry* find(Table* table, KeyOrder key_order, std::string_view key) {
    Entry* entry = table->find(key_order, key);
    return entry != nullptr || table->complete ? entry : load(table, key_order, key);
  }
  // Reads a record from the state, unless it is in memory.
  void read_if_missing(Table* table, KeyOrder key_order, std::string_view key) {
    if (table->find(key_order, key) == nullptr) load(table, key_order, key);
  }
  // Removes a record whose time has ended. REQUIRES: it is present and expired.
  void expire(Table* table, Entry* entry);

  uint64_t misses() const { return misses_; }
  uint64_t expired() const { return expired_; }

 private:
  bool is_named_by_clients(const Ref& ref) const;
  Entry* load(Table* table, KeyOrder key_order, std::string_view key);
  void expire_header(Table* table, Entry* entry);
  void take_away(Table* table, Entry* entry);
  void note_event(KeyEvent::Kind kind, const Table* table, const Entry* entry);
  void note_replaced(int database, int instead);

  WorkingSet& set_;
  TurnInProgress& turn_;
  Reclaimer& reclaimer_;
  Watches& watches_;
  KeyEvents& events_;
  const StoreInUse& store_;
  uint64_t misses_ = 0;
  uint64_t expired_ = 0;
  std::string value_;  // as the state has it
};

}  // namespace weir::storage
