// The keyspace: every record of every database. Records in use are live in memory (the working
// set); the store has them all.
//
// Commands read and write records here and nowhere else. A change can be taken back (roll_back). At
// the end of a turn everything that changed is appended to the store's log as one record
// (commit_turn). Later it is written back to the store's state in passes (work), after which its
// memory may be given up (sweep).
//
// Invariants
// 1. Nothing here reads a clock. The instant is an argument of begin_command, which checks that it
//    never runs back.
// 2. Commands of the turn in progress see that turn's changes before they are committed. This is
//    safe because the caller of commit_turn holds their replies: it releases them after commit_turn
//    has succeeded, or turns them into errors.
// 3. Only committed values are written back: WriteBack checks each entry for it. Only clean entries
//    are given up: the sweep passes over all others. A dirty entry whose record was erased is
//    written back as a deletion (if the state may hold the record) before it is forgotten: it stays
//    in its table, without a value, until a pass has settled it. Dying lists are the exception:
//    their entries are freed unwritten, because a range erases them from the state (drops.h).
// 4. A read that fails never looks like an absent key. load() sets failure(), put() then makes no
//    entry from the missing answer, and the caller discards the command's outcome.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/debt.h"
#include "storage/drops.h"
#include "storage/key_events.h"
#include "storage/keyspace_options.h"
#include "storage/record.h"
#include "storage/ref.h"
#include "storage/store_in_use.h"
#include "storage/turn_in_progress.h"
#include "storage/watches.h"
#include "storage/working_set.h"
#include "storage/write_back.h"

namespace weir::storage {

class Keyspace {
 public:
  using StoreFactory = std::function<std::unique_ptr<Store>()>;

  Keyspace(StoreFactory make_store, KeyspaceOptions options);
  ~Keyspace();

  // Opens the store and replays its log. The report's instant_ns is the newest instant that any
  // turn used.
  Status open(OpenReport* report);
  // Reopens a store that has failed and lets its log decide what happened. With `keep_memory` what
  // is in memory wins and is written to the log whole; otherwise memory is refilled from the store.
  Status reopen(bool keep_memory);

  using Mark = TurnInProgress::Mark;

  void begin_command(int64_t now_ns) { turn_.begin_command(now_ns); }
  // As begin_command, for the later commands of a transaction: what they change is counted together
  // with what the transaction has changed since the last begin_command.
  void begin_next_of_transaction(int64_t now_ns) { turn_.begin_next_of_transaction(now_ns); }
  int64_t now_ns() const { return turn_.now_ns(); }
  int64_t now_ms() const { return turn_.now_ms(); }
  // Takes back what the running command changed, or what was changed since a mark of this turn.
  void roll_back() { turn_.roll_back(); }
  void roll_back(const Mark& mark) { turn_.roll_back(mark); }
  Mark mark() const { return turn_.mark(); }
  // The first thing that went wrong in the running command: its outcome must be discarded.
  const Status& failure() const { return turn_.failure(); }
  // Says that the running command cannot go on, for a reason that lies outside the keyspace.
  void fail(Status failure) { turn_.fail(std::move(failure)); }

  int databases() const { return options_.databases; }
  // One more database, which no client can select; only time removes its records.
  int hidden_database() const { return options_.databases; }
  Ref look_up(int database, std::string_view key);
  void put(Ref* ref, Type type, std::string_view value, int64_t expire_at_ms);
  void set_expiry(Ref* ref, int64_t expire_at_ms);
  void erase(Ref* ref);
  // Hands a record, with its expiry and the lists that it owns, to another key of the same
  // database, which loses the record it had. Takes constant time. REQUIRES: from->exists().
  void rename(Ref* from, Ref* to);

  // Watches a key: see watches.h. A watch tells whether what the key holds has changed since, or
  // has ended.
  WatchId watch(const Ref& ref);
  void unwatch(WatchId id) { watches_.remove(id); }
  bool watch_changed(WatchId id) const;
  // Chooses which events are kept for take_events(); none are unless they are wanted.
  void want_events(bool expired, bool created) { events_.want(expired, created); }
  bool has_events() const { return events_.any(); }
  std::vector<KeyEvent> take_events() { return events_.take(); }

  // Makes a list of elements: see elements.h. It is empty and open, and is dropped unless an owner
  // names it at the end of the turn.
  ElementsId new_elements(int database, Layout layout);
  // Opens a list. Null where reading failed; then failure() is set. REQUIRES: `id` is new, or was
  // read from an owner that this command has looked up.
  Elements* open_elements(int database, ElementsId id);
  // Puts every element of a list into another one, of any database. False where reading failed.
  bool copy_elements(int from_database, ElementsId from, int to_database, ElementsId to);

  // Finds a system record: one that belongs to no database. System records are never evicted.
  Ref look_up_system(std::string_view key);
  // Visits the system records whose keys begin with a prefix, in no order. `visit` must not change
  // any.
  void visit_system(
      std::string_view prefix,
      const std::function<void(std::string_view key, std::string_view value)>& visit) const;

  uint64_t size(int database) const { return set_.count(database); }
  void clear(int database);
  void swap(int first, int second);

  // Visits live records in cursor order from `cursor` on until at least `count` records were
  // visited or ten times as many places were looked at; answers the cursor to go on from, 0 at the
  // end. Changes nothing, so it may set failure() only.
  uint64_t scan(int database, uint64_t cursor, size_t count,
                const std::function<void(const Seen&)>& visit);

  // Commits all commands since the last call. If that fails, all their changes are taken back and
  // the store must be reopened. With `keep_on_failure` the changes stay in memory instead, and the
  // log is owed them.
  Status commit_turn(bool keep_on_failure = false);
  bool turn_has_changes() const { return turn_.has_changes(); }
  bool store_failed() const { return store_.failed; }
  // Called when a sync has failed: what the log holds is then unknown until the store is reopened.
  void mark_store_failed() { store_.failed = true; }
  // False after a reopen that failed half-way: then no key can be looked up.
  bool usable() const { return set_.usable(); }

  // Does a bounded slice of the work that follows commands: write-back, giving up memory, dropping
  // what has expired. To be called every turn.
  void work(int64_t steady_ns);
  // True while there is work that should go on without waiting for traffic.
  bool wants_work() const;
  // True when write-back is so late that no request should be read until work() has caught up.
  bool overloaded() const;
  // True when write-back is late and fails: waiting does not help, because the store has failed.
  bool stuck() const;
  // See debt.h.
  size_t debt_bytes() const { return debt_.bytes(); }
  size_t debt_bytes_max() const { return debt_.bytes_max(); }
  bool owes_too_much() const { return debt_.too_much(); }
  void charge(size_t bytes) { turn_.charge(bytes); }
  size_t turn_bytes() const { return debt_.turn_bytes(); }
  const Status& write_back_failure() const { return pass_.failure(); }
  // Begins a write-back pass now, which covers everything that is committed.
  void write_back_now();
  bool writing_back() const { return pass_.running() || pass_wanted_; }
  void set_active_expiry(bool on) { active_expiry_ = on; }
  void set_options(const KeyspaceOptions& options);
  const KeyspaceOptions& options() const { return options_; }

  // REQUIRES: has_store(), which is false only after a reopen that failed.
  Store& store() { return *store_.store; }
  const Store& store() const { return *store_.store; }
  bool has_store() const { return store_.store != nullptr; }
  uint64_t turn() const { return end_.turn; }
  int64_t instant_ns() const { return end_.instant_ns; }
  KeyspaceFigures figures() const;

 private:
  static constexpr std::string_view kElementsIdsKey = "next-elements-id";

  // keyspace.cc
  Entry* load(Table* table, Position position, std::string_view key);
  void expire(Table* table, Entry* entry);
  void expire_owner(Table* table, Entry* entry);
  void note_unburied(Table* table, Entry* entry, const OwnerView& owner);
  void take_away(Table* table, Entry* entry);

  // keyspace_watches.cc
  void note_replaced(int database, int instead);
  void note_event(KeyEvent::Kind kind, const Table* table, const Entry* entry);

  // keyspace_elements.cc
  Status fill_elements(Table* table, Elements* list);
  Status read_elements(Table* table, Elements* list);
  void find_vanished();
  void bury(const Drops::List& list);
  void bury_short(Table* table, const Elements& list);
  void bury_expired();
  void free_dying();
  bool free_some(Table* table, ElementsId id, size_t* budget);
  void shrink_closed();
  void close_lists(Table* table, const Entry* owner);
  void look_at_expired_owners();

  // keyspace_open.cc
  Status fill_from_store(const OpenReport& report);
  Status load_system_records();
  Status replay_log();
  Status apply(std::string_view record);
  Status apply_entry(const TurnEntry& entry);
  Status apply_element(Table* table, const TurnEntry& change);
  void apply_change(Table* table, Position position, std::string_view key, const TurnEntry& change);
  void load_databases();
  std::string database_record(size_t database) const;
  Status check_number_of_databases() const;
  void create_missing_databases();
  Status look_over_incarnations();
  void forget_everything();
  Status append_everything_owed();

  // turn.cc
  void put_system(std::string_view key, std::string_view value);
  void put_database_records();
  void put_elements_record();
  void encode_changes();
  void encode(const Entry* entry);
  void roll_back_turn();
  void settle_changes();
  void retire_unused_tables();

  // work.cc
  void do_work(int64_t steady_ns);
  bool behind(size_t factor) const;
  bool hurries() const;
  void start_pass_when_due(int64_t steady_ns);
  void begin_pass_when_ready();
  void step_pass();
  void sweep(size_t looks, bool evict);
  void sweep_segment(Table* table, Segment* segment, bool evict);

  StoreFactory make_store_;
  KeyspaceOptions options_;
  StoreInUse store_;
  LogEnd end_;
  WorkingSet set_;
  WriteBack pass_;
  Debt debt_{set_, pass_, store_, options_};
  Watches watches_;
  KeyEvents events_;
  TurnInProgress turn_{&set_, &watches_, &events_, &debt_};

  std::vector<Incarnation> dropped_;   // to be erased from the state by the next pass
  std::vector<Incarnation> dropping_;  // by the running pass

  ElementsId next_elements_id_ = 1;
  ElementsId elements_ids_reserved_ = 1;  // no other process can have used an id from here on
  std::vector<Drops::List> vanished_, had_name_, have_name_;
  Drops drops_;
  TurnRecordWriter record_;

  bool pass_wanted_ = false;
  uint64_t passes_begun_ = 0;
  int64_t last_pass_steady_ns_ = 0;
  uint64_t log_bytes_at_pass_ = 0;  // bytes appended when the running pass began
  uint64_t log_bytes_at_w_ = 0;     // bytes appended when the pass that set W began
  size_t changed_last_turn_ = 0;
  Incarnation sweep_table_ = 0;
  Position sweep_position_ = 0;
  int64_t last_sweep_steady_ns_ = 0;
  bool sweep_gained_ = true;  // the last sweep gave up an entry, or made one ready to be given up
  std::vector<Entry*> victims_;
  bool active_expiry_ = true;
  std::string scratch_;
  mutable KeyspaceFigures figures_;
};

}  // namespace weir::storage
