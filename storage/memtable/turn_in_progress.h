// The turn in progress: what its commands have changed since the last commit, and how to take that
// back. It belongs to the running command, too: its instant and what went wrong in it.
//
// Invariants
// 1. Nothing here reads a clock. The instant is an argument of begin_command(), which checks that
//    it never runs back.
// 2. Every entry that a command changes was saved here before, with the bytes charged. It holds
//    because LiveRecords and Elements are all through which commands change entries, and both call
//    charge() and save() first.
// 3. A roll-back to a savepoint restores entries, databases, lists, events and charges together,
//    because the savepoint holds the place of each.
// 4. The index of an open list follows a roll-back, because each entry is taken out before its old
//    state is restored and put in after it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time_units.h"
#include "storage/format/element_key.h"
#include "storage/memtable/dirty_bytes.h"
#include "storage/memtable/key_events.h"
#include "storage/memtable/undo.h"
#include "storage/memtable/watches.h"
#include "storage/memtable/working_set.h"
#include "storage/store/keyspace_options.h"

namespace weir::storage {

class TurnInProgress {
 public:
  // A place in the turn, to go back to.
  struct Savepoint {
    size_t undo = 0;
    size_t changed = 0;
    size_t databases = 0;
    size_t newborn = 0;
    size_t events = 0;
    size_t turn_bytes = 0;
  };

  TurnInProgress(WorkingSet* set, Watches* watches, KeyEvents* events, DirtyBytes* dirty_bytes,
                 const KeyspaceOptions& options)
      : set_(*set),
        watches_(*watches),
        events_(*events),
        dirty_bytes_(*dirty_bytes),
        options_(options) {}

  void begin_command(int64_t now_ns) {
    WEIR_CHECK(now_ns >= now_ns_);
    now_ns_ = now_ns;
    now_ms_ = now_ns / kNsPerMs;
    dirty_bytes_.begin_command();
    begin_next_of_transaction(now_ns);
  }
  // As begin_command, for the later commands of a transaction: what they change is counted together
  // with what the transaction has changed since the last begin_command.
  void begin_next_of_transaction(int64_t now_ns) {
    WEIR_CHECK(now_ns == now_ns_);
    ++command_;
    if (!failure_.ok()) failure_ = {};
    command_savepoint_ = savepoint();
  }
  // Watches a key from now on, as Watches::add() has it. The running command saves again, and so
  // tells of, what it has changed before and changes later.
  WatchId watch(const Ref& ref, std::shared_ptr<bool> any_touched = nullptr) {
    ++command_;
    return watches_.add(ref, std::move(any_touched));
  }
  int64_t now_ns() const { return now_ns_; }
  int64_t now_ms() const { return now_ms_; }
  // Moves the instant on to that of a turn which was replayed; it never moves back.
  void reach(int64_t instant_ns);

  // Takes back what the running command changed, or what was changed since a savepoint of this
  // turn.
  void roll_back() { roll_back(command_savepoint_); }
  void roll_back(const Savepoint& savepoint);
  Savepoint savepoint() const {
    return {.undo = undo_.savepoint(),
            .changed = changed_.size(),
            .databases = databases_undo_.size(),
            .newborn = newborn_.size(),
            .events = events_.savepoint(),
            .turn_bytes = dirty_bytes_.turn_bytes()};
  }

  // The first thing that went wrong in the running command: its outcome must be discarded.
  const Status& failure() const { return failure_; }
  // Says that the running command cannot go on, for a reason that lies outside the keyspace.
  void fail(Status failure) {
    if (failure_.ok()) failure_ = std::move(failure);
  }
  // Says that a record could not be read, whatever else went wrong before.
  void fail_to_read(Status failure) { failure_ = std::move(failure); }

  // Counts a change that is about to be made, or anything else that is kept until the turn ends.
  // Throws ChangeRefused where it is one too many.
  void charge(size_t bytes) {
    if (!dirty_bytes_.add(bytes)) [[unlikely]]
      refuse_change();
  }
  // To be called before an entry is made for a name that has none. Throws ChangeRefused where the
  // name is too long (format/name_bound.h); `what` is as there.
  void admit_name(std::string_view what, size_t bytes);
  // What memory owes the disk, with what this turn has changed.
  const DirtyBytes& dirty_bytes() const { return dirty_bytes_; }
  // Saves an entry that is about to change, unless the running command has saved it already; true
  // if it was saved now. With `value_goes` the caller replaces the value next, and where true was
  // answered keeps its outside block allocated for the undo log.
  bool save(Table* table, Entry* entry, bool value_goes);
  // Saves the databases before one is cleared or two are swapped.
  void save_databases() { databases_undo_.push_back({undo_.savepoint(), set_.databases()}); }
  // Tells the watches of an entry that changes. save() and roll_back() do; a replay has nothing to
  // save.
  void tell_watches(const Table* table, const Entry* entry);
  void note_newborn(const ListName& list) { newborn_.push_back(list); }
  // Makes an entry part of this turn's record that no command has changed.
  void add_unchanged(Entry* entry);

  bool has_changes() const { return !changed_.empty() || set_.databases_changed(); }
  const std::vector<Entry*>& changed() const { return changed_; }
  const std::vector<ListName>& newborn() const { return newborn_; }
  const Undo& undo() const { return undo_; }
  // True if a header record has changed.
  bool headers_changed() const { return headers_changed_; }
  // True if a database was cleared, or two were swapped.
  bool databases_replaced() const { return !databases_undo_.empty(); }

  // Ends the turn. What it changed stays, and can be taken back no more; or all of it is taken
  // back; or it had changed nothing that a record would hold.
  void keep_all();
  void take_back_all();
  void end_empty();
  // Forgets everything, when the working set is forgotten. The instant stays.
  void forget();
  // Lets the next command have any instant. REQUIRES: the working set was forgotten.
  void forget_instant() { now_ns_ = now_ms_ = 0; }

  // A buffer for an element that is about to be put.
  std::string* payload() { return &payload_; }

 private:
  struct DatabasesUndo {
    size_t undo_savepoint;  // where the entries' undo log ended when this was saved
    WorkingSet::Databases databases;
  };

  [[noreturn]] void refuse_change();
  void forget_newborn(size_t savepoint);

  WorkingSet& set_;
  Watches& watches_;
  KeyEvents& events_;
  DirtyBytes& dirty_bytes_;
  const KeyspaceOptions& options_;
  int64_t now_ns_ = 0;
  int64_t now_ms_ = 0;
  uint32_t command_ = 0;  // the number of the running one, for Entry::saved_by
  Status failure_;
  Savepoint command_savepoint_;
  Undo undo_;
  std::vector<Entry*> changed_;
  std::vector<DatabasesUndo> databases_undo_;
  std::vector<ListName> newborn_;
  bool headers_changed_ = false;
  std::string payload_;
};

}  // namespace weir::storage
