// The keyspace: every record of every database. Records in use are live in memory (the working
// set); the store has them all.
//
// Commands read and write records here and nowhere else. A change can be taken back (running). At
// the end of a turn everything that changed is appended to the log as one record (commit_turn).
// Later it is written back to the store's state (work), after which its memory may be
// given up.
//
// This class has no duty but to hold the parts together:
//
//     WorkingSet      tables, databases, counters     LiveRecords  look-up, change, expiry
//     TurnInProgress  undo, savepoints, what changed  Lists        lists of elements, their ids
//     DirtyBytes      how much waits for write-back   Reclaimer    what dies, until it is gone
//     TurnCommit      a turn becomes a record         WriteBack    one write-back
//     Replay          records become entries          WriteBackSchedule  when one begins
//     Recovery        from a store to a working set   Evictor      expiry and eviction
//     FollowedTurns   turns that another has made
//
// SoughtKeys (sought_keys.h) stands beside it, for those who know which keys come next.
//
// A part knows those it is handed in its constructor, and none knows the keyspace. Code that only
// reads a part takes a const reference to that part, not to the keyspace.
//
// Invariants
// 1. Nothing here reads a clock. The instant is an argument of begin_command, which checks that it
//    never runs back.
// 2. Commands of the turn in progress see that turn's changes before they are committed. This is
//    safe because the caller of commit_turn holds their replies: it releases them after commit_turn
//    has succeeded, or turns them into errors.
// 3. Only committed values are written back: WriteBack checks each entry for it. Only clean entries
//    are given up: the eviction scan passes over all others. A dirty entry whose record was erased
//    is written back as a deletion (if the state may hold the record) before it is forgotten: it
//    stays in its table, without a value, until a write-back has settled it. Reclaimable lists are
//    the exception: their entries are freed unwritten, because a range erases them from the state
//    (lists/reclaimer.h).
// 4. A read that fails never looks like an absent key (live_records.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/keyspace/evictor.h"
#include "storage/keyspace/followed_turns.h"
#include "storage/keyspace/live_records.h"
#include "storage/keyspace/recovery.h"
#include "storage/keyspace/replay.h"
#include "storage/keyspace/turn_commit.h"
#include "storage/keyspace/work.h"
#include "storage/keyspace/write_back_schedule.h"
#include "storage/lists/lists.h"
#include "storage/lists/reclaimer.h"
#include "storage/memtable/dirty_bytes.h"
#include "storage/memtable/key_events.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/watches.h"
#include "storage/memtable/working_set.h"
#include "storage/memtable/write_back.h"
#include "storage/store/keyspace_options.h"
#include "storage/store/store_in_use.h"

namespace weir::storage {

class Keyspace {
 public:
  using StoreFactory = std::function<std::unique_ptr<Store>()>;

  Keyspace(StoreFactory make_store, KeyspaceOptions options);
  ~Keyspace();

  // Opens the store and replays its log. The report's instant_ns is the newest instant that any
  // turn used. `watch` is told how far that is.
  Status open(OpenReport* report, const OpeningWatch& watch = {});
  // Reopens a store that has failed and lets its log decide what happened. Where turns are appended
  // elsewhere (options().log), Keep::kAll is refused: those that were not committed there are
  // dropped. Where it follows, instants begin anew with those of the turns that the store has; then
  // Keep::kCommitted opens a store that has not failed only if there are turns to drop. REQUIRES of
  // kCommitted: it follows, and no turn is in progress.
  Status reopen(Keep keep);
  // False after a reopen that failed half-way: then no key can be looked up.
  bool usable() const { return set_.usable(); }
  // Where it follows no more, turns from now on are its own, and what no turn has made yet becomes
  // a part of the running command. Where it begins to follow, a reopen is to be called next.
  void set_options(const KeyspaceOptions& options);
  const KeyspaceOptions& options() const { return options_; }
  KeyspaceMetrics metrics() const;

  // The running command and its turn: instant, savepoints, roll-back, charges.
  TurnInProgress& running() { return turn_; }
  // The first thing that went wrong in the running command: its outcome must be discarded.
  const Status& failure() const { return turn_.failure(); }

  Ref look_up(int database, std::string_view key) { return records_.look_up(database, key); }
  void put(Ref* ref, Type type, std::string_view value, int64_t expire_at_ms) {
    records_.put(ref, type, value, expire_at_ms);
  }
  void set_expiry(Ref* ref, int64_t expire_at_ms) { records_.set_expiry(ref, expire_at_ms); }
  void erase(Ref* ref) { records_.erase(ref); }
  // Hands a record, with its expiry and the lists that it owns, to another key of the same
  // database, which loses the record it had. Takes constant time. REQUIRES: from->exists().
  void rename(Ref* from, Ref* to) { records_.rename(from, to); }
  // Lists of elements: see memtable/elements.h.
  Lists& lists() { return lists_; }

  // Finds a system record: one that belongs to no database. System records are never evicted.
  Ref look_up_system(std::string_view key) { return records_.look_up_system(key); }
  // Visits the system records whose keys begin with a prefix, in no order. `visit` must not change
  // any.
  void visit_system(
      std::string_view prefix,
      const std::function<void(std::string_view key, std::string_view value)>& visit) const;

  uint64_t size(int database) const { return set_.count(database); }
  void clear(int database) { records_.clear(database); }
  void swap(int first, int second) { records_.swap(first, second); }
  // Visits live records in cursor order from `cursor` on until at least `count` records were
  // visited or ten times as many places were looked at; answers the cursor to go on from, 0 at the
  // end. Changes nothing, so it may set failure() only.
  uint64_t scan(int database, uint64_t cursor, size_t count,
                const std::function<void(const Seen&)>& visit);

  // Watches on keys, and what happens to keys without being named by a command.
  Watches& watches() { return watches_; }
  KeyEvents& events() { return events_; }

  // Commits all commands since the last call. If that fails, all their changes are taken back and
  // the store must be reopened. With `keep_on_failure` the changes stay in memory instead, and the
  // log is owed them.
  Status commit_turn(bool keep_on_failure = false);
  // The turns of a record of a shared log, of which some may be here already: the store's own log
  // gets them, and those that are new are applied (replay.h). A failure of the first marks the
  // store as failed. If the second fails, the keyspace is as of no turn, until the same batch was
  // followed again and that succeeded. REQUIRES: no turn is in progress. Unless options().follows,
  // batch.last_turn() <= turn(): own turns that were committed by this record. Where it follows,
  // the next command's instant is not later than that of the newest turn. A turn that cannot be is
  // refused (turn_check.h), with all of the batch; the message names turn and key.
  Status follow(const TurnBatch& batch);
  uint64_t turn() const { return end_.turn; }
  // The newest turn that the store's own log has.
  uint64_t logged_turn() const { return end_.logged_turn; }

  // The work that follows commands.
  Work& work() { return work_; }
  StoreInUse& store_in_use() { return store_; }

 private:
  friend class SoughtKeys;

  Status fill_from_store(const OpenReport& report, const OpeningWatch& watch = {});
  void forget_everything();
  void end_at_newest_logged_turn();
  Status append_everything_owed();
  Status let_store_forget();

  StoreFactory make_store_;
  KeyspaceOptions options_;
  StoreInUse store_;
  LogEnd end_;
  WorkingSet set_;
  WriteBack write_back_;
  DirtyBytes dirty_bytes_;
  Watches watches_;
  KeyEvents events_;
  TurnInProgress turn_;
  Reclaimer reclaimer_;
  LiveRecords records_;
  Lists lists_;
  WriteBackSchedule schedule_;
  Evictor evictor_;
  TurnCommit commit_;
  Replay replay_;
  Recovery recovery_;
  Work work_;
  FollowedTurns followed_;
};

}  // namespace weir::storage
