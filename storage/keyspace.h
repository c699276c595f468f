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
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/drops.h"
#include "storage/element_key.h"
#include "storage/record.h"
#include "storage/ref.h"
#include "storage/store.h"
#include "storage/table.h"
#include "storage/undo.h"
#include "storage/watches.h"
#include "storage/working_set.h"
#include "storage/write_back.h"

namespace weir::storage {

struct KeyspaceOptions {
  int databases = 16;
  // Bound of the working set; beyond it clean entries are given up.
  size_t memory_bytes_max = SIZE_MAX;
  size_t unwritten_max = 500'000;     // with more entries newer than the state, write-back hurries
  uint64_t log_bytes_max = 64 << 20;  // with more bytes appended since W, write-back hurries
  int64_t write_back_interval_ns = 5'000'000'000;
};

struct KeyspaceFigures {
  uint64_t turn = 0;               // the newest committed turn
  uint64_t written_back_turn = 0;  // W
  size_t entries = 0;              // in memory
  size_t unwritten = 0;            // entries that are newer than the state
  size_t bytes = 0;                // size of the working set
  uint64_t hits = 0, misses = 0;   // look-ups answered from memory, and from the store
  uint64_t expired = 0, evicted = 0;
  uint64_t log_bytes_appended = 0;
};

// Thrown where a command changes more than it may; Keyspace::failure() says why. The change that
// threw it has not been made, not even in part.
struct ChangeRefused : std::exception {
  const char* what() const noexcept override { return "the change was refused"; }
};

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

  // A place in the turn in progress, to go back to.
  struct Mark {
    size_t undo = 0;
    size_t changed = 0;
    size_t databases = 0;
    size_t newborn = 0;
    size_t events = 0;
    size_t turn_bytes = 0;
  };

  void begin_command(int64_t now_ns);
  // As begin_command, for the later commands of a transaction: what they change is counted together
  // with what the transaction has changed since the last begin_command.
  void begin_next_of_transaction(int64_t now_ns);
  int64_t now_ns() const { return now_ns_; }
  int64_t now_ms() const { return now_ms_; }
  // Takes back what the running command changed, or what was changed since a mark of this turn.
  void roll_back() { roll_back(command_mark_); }
  void roll_back(const Mark& mark);
  Mark mark() const;
  // The first thing that went wrong in the running command: its outcome must be discarded.
  const Status& failure() const { return failure_; }
  // Says that the running command cannot go on, for a reason that lies outside the keyspace.
  void fail(Status failure) {
    if (failure_.ok()) failure_ = std::move(failure);
  }

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
  void want_events(bool expired, bool created) {
    wants_expired_ = expired;
    wants_created_ = created;
  }
  bool has_events() const { return !events_.empty(); }
  std::vector<KeyEvent> take_events();

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
  bool turn_has_changes() const { return !changed_.empty() || set_.databases_changed(); }
  bool store_failed() const { return store_failed_; }
  // Called when a sync has failed: what the log holds is then unknown until the store is reopened.
  void mark_store_failed() { store_failed_ = true; }
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
  // The debt: bytes of memory that cannot be given up because the disk is owed them. They are what
  // is committed and not written back, and what the turn in progress has changed. The debt never
  // passes debt_bytes_max(): half of memory_bytes_max, but at least 8 MiB and at most 1 GiB, so
  // that one log record can hold it.
  size_t debt_bytes() const { return owed_bytes_ + turn_bytes_; }
  size_t debt_bytes_max() const;
  // True when the debt is so large that a command that changes data should wait for write-back.
  bool owes_too_much() const { return turn_bytes_ >= turn_bytes_worry_ && can_write_back(); }
  // Counts a change that is about to be made, or anything else that is kept until the turn ends.
  // Throws ChangeRefused where it is one too many.
  void charge(size_t bytes) {
    turn_bytes_ += kChangeBytes + bytes;
    if (turn_bytes_ > turn_bytes_max_) [[unlikely]]
      refuse_change();
  }
  // What the turn in progress has changed so far.
  size_t turn_bytes() const { return turn_bytes_; }
  const Status& write_back_failure() const { return pass_.failure(); }
  // Begins a write-back pass now, which covers everything that is committed.
  void write_back_now();
  bool writing_back() const { return pass_.running() || pass_wanted_; }
  void set_active_expiry(bool on) { active_expiry_ = on; }
  void set_options(const KeyspaceOptions& options);
  const KeyspaceOptions& options() const { return options_; }

  // REQUIRES: has_store(), which is false only after a reopen that failed.
  Store& store() { return *store_; }
  const Store& store() const { return *store_; }
  bool has_store() const { return store_ != nullptr; }
  uint64_t turn() const { return turn_; }
  int64_t instant_ns() const { return newest_instant_ns_; }
  KeyspaceFigures figures() const;

 private:
  friend class Elements;

  static constexpr std::string_view kElementsIdsKey = "next-elements-id";
  static constexpr size_t kChangeBytes = 128;  // what an undo and an entry's head take, about

  // keyspace.cc
  Entry* load(Table* table, Position position, std::string_view key);
  void expire(Table* table, Entry* entry);
  void expire_owner(Table* table, Entry* entry);
  void note_unburied(Table* table, Entry* entry, const OwnerView& owner);
  void take_away(Table* table, Entry* entry);
  void save_for_undo(Table* table, Entry* entry, bool value_goes);
  [[noreturn]] void refuse_change();
  bool can_write_back() const { return !store_failed_ && pass_.failure().ok(); }
  void set_turn_bytes_max();

  // keyspace_watches.cc
  void note_change(const Table* table, const Entry* entry);
  void note_replaced(int database, int instead);
  void forget_created(size_t mark);
  void note_event(KeyEvent::Kind kind, const Table* table, const Entry* entry);

  // keyspace_elements.cc
  Status fill_elements(Elements* list);
  Status read_elements(Elements* list);
  static Elements* open_list_of(const Table* table, const Entry* entry);
  void forget_newborn(size_t mark);
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
  std::unique_ptr<Store> store_;
  WorkingSet set_;
  std::vector<Incarnation> dropped_;   // to be erased from the state by the next pass
  std::vector<Incarnation> dropping_;  // by the running pass

  int64_t now_ns_ = 0;
  int64_t now_ms_ = 0;
  int64_t newest_instant_ns_ = 0;
  uint32_t stamp_ = 0;
  Status failure_;

  Watches watches_;
  bool wants_expired_ = false;
  bool wants_created_ = false;
  std::vector<KeyEvent> events_;

  Undo undo_;
  std::vector<Entry*> changed_;
  struct DatabaseUndo {
    size_t undo_mark;  // where the entries' undo log ended when this was saved
    WorkingSet::Databases databases;
  };
  std::vector<DatabaseUndo> databases_undo_;
  ElementsId next_elements_id_ = 1;
  ElementsId elements_ids_reserved_ = 1;  // no other process can have used an id from here on
  std::vector<Drops::List> newborn_;      // the lists that the turn in progress has made
  Mark command_mark_;
  size_t turn_bytes_ = 0;
  size_t turn_bytes_max_ = SIZE_MAX;
  size_t turn_bytes_worry_ = SIZE_MAX;  // from here on the keyspace owes too much
  size_t owed_bytes_ = 0;               // committed and not written back, when the turn began
  size_t transaction_begin_bytes_ = 0;  // turn_bytes_ at the last begin_command
  bool owners_changed_ = false;         // whether the turn in progress has changed an owner
  std::vector<Drops::List> vanished_, had_name_, have_name_;
  Drops drops_;
  std::string element_payload_;
  TurnRecordWriter record_;
  uint64_t turn_ = 0;
  bool store_failed_ = false;

  WriteBack pass_;
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
