// The keyspace: every database's records, live in memory as far as they are in use and in the store
// as a whole.
//
// Commands read and write records here and nowhere else. What a command changed can be taken back
// (roll_back); at the end of a turn all that changed is appended to the store's log as one record
// (commit_turn); later it is written back to the store's state in passes (work), after which the
// memory may be given up (sweep).
//
// Invariants
// 1. Nothing here reads a clock: the instant comes with begin_command, and never runs back.
// 2. The state of the turn in progress is seen by the commands of that turn only together with
// their replies being
//    held until commit_turn: whoever calls commit_turn releases them, or turns them into errors.
// 3. Only committed values are written back; only clean entries are given up; a dirty entry that is
// gone is written
//    back as a deletion before it is forgotten.
// 4. A read that fails never looks like an absent key: failure() is set, and the command's outcome
// must be discarded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/drops.h"
#include "storage/element_key.h"
#include "storage/record.h"
#include "storage/store.h"
#include "storage/table.h"
#include "storage/undo.h"
#include "storage/watches.h"
#include "storage/write_back.h"

namespace weir::storage {

struct KeyspaceOptions {
  int databases = 16;
  size_t memory_bytes_max = SIZE_MAX;  // of the working set; clean entries are given up beyond
  size_t unwritten_max = 500'000;      // entries newer than the state before write-back is hurried
  uint64_t log_bytes_max = 64 << 20;   // likewise
  int64_t write_back_interval_ns = 5'000'000'000;
};

// A live record met by a scan; its views are valid during the visit only.
struct Seen {
  std::string_view key;
  Type type = Type::kNone;
  int64_t expire_at_ms = 0;
  bool in_memory = false;
  bool expired = false;  // only shown to walk()
};

// A key looked up: a live record, or its absence. Valid until the next call that changes the
// keyspace through another Ref, or begin_command.
class Ref {
 public:
  bool exists() const { return entry_ != nullptr && entry_->has(Entry::kPresent); }
  Type type() const { return exists() ? entry_->type : Type::kNone; }
  std::string_view value() const { return exists() ? entry_->value() : std::string_view(); }
  int64_t expire_at_ms() const { return exists() ? entry_->expire_at_ms : 0; }  // 0: none
  std::string_view key() const { return key_; }
  Position position() const { return position_; }
  int database() const { return database_; }

 private:
  friend class Keyspace;
  int database_ = 0;
  Table* table_ = nullptr;
  Position position_ = 0;
  std::string_view key_;
  Entry* entry_ = nullptr;
};

// What happened to a key without a command naming it.
struct KeyEvent {
  enum class Kind : uint8_t { kExpired, kCreated };
  Kind kind = Kind::kExpired;
  int database = 0;
  std::string key;
};

struct KeyspaceFigures {
  uint64_t turn = 0;               // newest committed
  uint64_t written_back_turn = 0;  // W
  size_t entries = 0;              // in memory
  size_t unwritten = 0;            // of them, newer than the state
  size_t bytes = 0;                // of the working set
  uint64_t hits = 0, misses = 0;   // of look-ups: found in memory, read from the store
  uint64_t expired = 0, evicted = 0;
  uint64_t log_bytes_appended = 0;
};

class Keyspace {
 public:
  using StoreFactory = std::function<std::unique_ptr<Store>()>;

  Keyspace(StoreFactory make_store, KeyspaceOptions options);
  ~Keyspace();

  // Opens the store and replays its log. instant_ns: the newest instant that any turn used.
  Status open(OpenReport* report);
  // The store failed: opens it anew and lets its log decide what happened. With `keep_memory` what
  // is in memory wins and is written to the log whole; otherwise memory is refilled from the store.
  Status reopen(bool keep_memory);

  void begin_command(int64_t now_ns);
  int64_t now_ns() const { return now_ns_; }
  int64_t now_ms() const { return now_ms_; }
  void roll_back();
  const Status& failure() const { return failure_; }

  int databases() const { return options_.databases; }
  // One more, which no client can select: cleared by nothing but time.
  int hidden_database() const { return options_.databases; }
  Ref look_up(int database, std::string_view key);
  void put(Ref* ref, Type type, std::string_view value, int64_t expire_at_ms);
  void set_expiry(Ref* ref, int64_t expire_at_ms);
  void erase(Ref* ref);
  // Hands the record, with its expiry and the lists that it owns, to another key of the same
  // database, whose own record goes. In constant time. REQUIRES: from->exists().
  void rename(Ref* from, Ref* to);

  // Watches, see watches.h: whether what a key holds has changed since, or has ended.
  WatchId watch(const Ref& ref);
  void unwatch(WatchId id) { watches_.remove(id); }
  bool watch_changed(WatchId id) const;
  // Events are kept for take_events() only while somebody wants them.
  void want_events(bool expired, bool created) {
    wants_expired_ = expired;
    wants_created_ = created;
  }
  bool has_events() const { return !events_.empty(); }
  std::vector<KeyEvent> take_events();

  // Lists of elements: see elements.h. A new one is empty, open, and dropped unless an owner names
  // it at the end of the turn.
  ElementsId new_elements(int database, Layout layout);
  // REQUIRES: `id` was read from an owner looked up in this command, or is new. Null where reading
  // failed; then failure() is set.
  Elements* open_elements(int database, ElementsId id);
  // Puts every element of a list into another, of any database. False where reading failed.
  bool copy_elements(int from_database, ElementsId from, int to_database, ElementsId to);

  // Records that belong to no database; never evicted.
  Ref look_up_system(std::string_view key);
  // Those whose key begins so, in no order. `visit` must not change any.
  void visit_system(
      std::string_view prefix,
      const std::function<void(std::string_view key, std::string_view value)>& visit) const;

  uint64_t size(int database) const { return databases_[static_cast<size_t>(database)].count; }
  void clear(int database);
  void swap(int first, int second);

  // Visits live records in cursor order from `cursor` on until at least `count` records were
  // visited or ten times as many places were looked at; answers the cursor to go on from, 0 at the
  // end. Changes nothing, so it may set failure() only.
  uint64_t scan(int database, uint64_t cursor, size_t count,
                const std::function<void(const Seen&)>& visit);

  // Commits all commands since the last call. After a failure they are all taken back, and the
  // store must be reopened (unless `keep_on_failure`: then they stand, and the log is owed).
  Status commit_turn(bool keep_on_failure = false);
  bool turn_has_changes() const { return !changed_.empty() || databases_changed_; }
  bool store_failed() const { return store_failed_; }
  // A sync failed: what the log holds is unknown until it is reopened.
  void mark_store_failed() { store_failed_ = true; }
  // False after a reopen that failed half-way; then nothing can be looked up.
  bool usable() const;

  // Slices of the work behind: write-back, giving up memory, dropping what expired. Bounded; call
  // it every turn.
  void work(int64_t steady_ns);
  // Work that should go on without waiting for traffic.
  bool wants_work() const;
  // Too far behind: no request should be read until work() has caught up.
  bool overloaded() const;
  // Too far behind, and write-back fails: waiting does not help, the store has failed.
  bool stuck() const;
  const Status& write_back_failure() const { return pass_.failure(); }
  // Begins a write-back pass now; it covers all that is committed.
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

  struct Database {
    Table* table = nullptr;
    uint64_t count = 0;
    bool changed = false;
    // The counter may include keys that have expired unseen, while they were not in memory.
    bool count_doubtful = false;
  };
  // A database being counted anew: what lies before the cursor is in `count`, and kept right there
  // by adjust_count.
  struct Recount {
    int database = -1;  // none
    const Table* table = nullptr;
    uint64_t cursor = 0;
    int64_t count = 0;
  };

  // keyspace.cc
  Entry* load(Table* table, Position position, std::string_view key);
  void expire(Table* table, Entry* entry);
  void expire_owner(Table* table, Entry* entry);
  void note_unburied(Table* table, Entry* entry, const OwnerView& owner);
  void take_away(Table* table, Entry* entry);
  void save_for_undo(Table* table, Entry* entry, bool value_goes);
  void adjust_count(Table* table, Position position, int change);
  Table* table_of(Incarnation incarnation) const;
  Table* add_table(Incarnation incarnation);

  // keyspace_watches.cc
  int database_of(const Table* table) const;
  void note_change(const Table* table, const Entry* entry);
  void note_replaced(int database, int instead);
  void forget_created(size_t mark);
  void note_event(KeyEvent::Kind kind, const Table* table, const Entry* entry);

  // keyspace_elements.cc
  Table* elements_table(Table* owners);
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
  size_t memory_bytes() const;
  bool behind(size_t factor) const;
  void start_pass_when_due(int64_t steady_ns);
  void begin_pass_when_ready();
  void step_pass();
  void sweep(size_t looks, bool evict);
  void sweep_segment(Table* table, Segment* segment, bool evict);

  // scan.cc: as scan(), but expired records that are still there are visited too.
  uint64_t walk(int database, uint64_t cursor, size_t count,
                const std::function<void(const Seen&)>& visit);

  // recount.cc
  void note_dropped_records();
  void step_recount();
  void begin_recount(int database);
  void end_recount();

  StoreFactory make_store_;
  KeyspaceOptions options_;
  std::unique_ptr<Store> store_;
  HashSeed seed_{};
  size_t index_bytes_ = 0;  // of open lists

  std::vector<std::unique_ptr<Table>>
      tables_;  // in ascending incarnation; the first is the system's
  std::vector<std::unique_ptr<Table>>
      retired_;                        // dropped, waiting for the pass that may point into them
  std::vector<Incarnation> dropped_;   // to be erased from the state by the next pass
  std::vector<Incarnation> dropping_;  // by the running pass
  std::vector<Database> databases_;
  Incarnation next_incarnation_ = 1;
  bool databases_changed_ = false;

  int64_t now_ns_ = 0;
  int64_t now_ms_ = 0;
  int64_t newest_instant_ns_ = 0;
  uint32_t stamp_ = 0;
  Status failure_;

  Watches watches_;
  bool wants_expired_ = false;
  bool wants_created_ = false;
  std::vector<KeyEvent> events_;
  size_t command_events_mark_ = 0;

  Undo undo_;
  std::vector<Entry*> changed_;
  size_t command_undo_mark_ = 0;
  size_t command_changed_mark_ = 0;
  struct DatabaseUndo {
    size_t undo_mark;  // of the entries' log, when it was saved
    std::vector<Database> databases;
  };
  std::vector<DatabaseUndo> databases_undo_;
  size_t command_databases_mark_ = 0;
  ElementsId next_elements_id_ = 1;
  ElementsId elements_ids_reserved_ = 1;  // ids from here on may have been used by no other process
  std::vector<Drops::List> newborn_;      // lists of the turn in progress
  size_t command_newborn_mark_ = 0;
  bool owners_changed_ = false;  // in the turn in progress
  std::vector<Drops::List> vanished_, had_name_, have_name_;
  Drops drops_;
  bool owners_buried_unseen_ = false;  // since the last pass; see recount.cc
  std::string element_payload_;
  TurnRecordWriter record_;
  uint64_t turn_ = 0;
  bool store_failed_ = false;

  WriteBack pass_;
  bool pass_wanted_ = false;
  uint64_t passes_begun_ = 0;
  int64_t last_pass_steady_ns_ = 0;
  uint64_t log_bytes_at_pass_ = 0;  // appended when the running pass began
  uint64_t log_bytes_at_w_ = 0;     // appended when the pass that set W began
  size_t changed_last_turn_ = 0;
  Incarnation sweep_table_ = 0;
  Position sweep_position_ = 0;
  int64_t last_sweep_steady_ns_ = 0;
  bool sweep_gained_ = true;  // the last sweep gave something up, or made ready to
  std::vector<Entry*> victims_;
  Recount recount_;
  uint64_t dropped_records_seen_ = 0;
  bool active_expiry_ = true;
  std::string scratch_;
  mutable KeyspaceFigures figures_;
};

}  // namespace weir::storage
