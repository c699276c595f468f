// The working set: the tables of all generations, the databases that name them, and the databases'
// counters.
//
// It knows neither commands nor turns. It does not keep the store: whether a key that is not here
// may be there is Table::complete.
//
// Invariants
// 1. Tables stand in ascending generation; the first is that of system records, and it is always
//    complete. It holds because only add_table() adds one, at its place.
// 2. A table that no database names any more is put aside, not freed: a running write-back may
//    point to its entries. It holds because RetiredTables::release() is called only while no
//    write-back runs.
// 3. No generation is used twice: the next one only grows, and replay learns it from the log.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/format/element_key.h"
#include "storage/format/key_order.h"
#include "storage/memtable/index_memory.h"
#include "storage/memtable/retired_tables.h"
#include "storage/memtable/table.h"

namespace weir::storage {

struct Database {
  Table* table = nullptr;
  uint64_t count = 0;
  bool changed = false;
  // True if the counter may include keys that expired unseen, while they were not in memory.
  bool count_doubtful = false;
};

// A count of a database's keys that is being made, up to a cursor (recount.h).
struct CountInProgress {
  int database = -1;  // -1: no count is being made
  const Table* table = nullptr;
  uint64_t cursor = 0;
  int64_t count = 0;

  // A key of a table came (1) or went (-1).
  void note_key(const Table* changed, KeyOrder key_order, int change) {
    if (table == changed && cursor_of(key_order) < cursor) count += change;
  }
};

class WorkingSet {
 public:
  using Tables = std::vector<std::unique_ptr<Table>>;
  using Databases = std::vector<Database>;

  // Makes the table of system records, and databases without tables. REQUIRES: it is empty.
  void begin(const HashSeed& seed, size_t databases);
  void forget();
  const HashSeed& seed() const { return seed_; }

  const Tables& tables() const { return tables_; }
  Table* system_table() const { return tables_.front().get(); }
  // Null if there is none.
  Table* table_of(Generation generation) const;
  // The table that is there already, or a new one.
  Table* add_table(Generation generation);
  // The table of the elements that a table's records own; made when it is first asked for.
  Table* elements_table(Table* headers);
  // Puts aside the tables that no database names, and answers them.
  std::vector<Table*> retire_unused();
  RetiredTables& retired() { return retired_; }
  const RetiredTables& retired() const { return retired_; }

  Databases& databases() { return databases_; }
  const Databases& databases() const { return databases_; }
  Database& database(int number) { return databases_[static_cast<size_t>(number)]; }
  Table* table(int database) const { return databases_[static_cast<size_t>(database)].table; }
  uint64_t count(int database) const { return databases_[static_cast<size_t>(database)].count; }
  // One more database, which no client can select; only time removes its records.
  int hidden_database() const { return static_cast<int>(databases_.size()) - 1; }
  // -1 if it is no database's.
  int database_of(const Table* table) const;
  // True if every database has a table.
  bool usable() const;

  // Gives a database a new generation, which is empty.
  void clear(int database);
  void swap(int first, int second);
  // Databases as they were before clear() and swap().
  void restore(Databases databases) { databases_ = std::move(databases); }
  void set_next_generation(Generation next) { next_generation_ = next; }
  Generation next_generation() const { return next_generation_; }

  // A key of a table came (1) or went (-1).
  void adjust_count(Table* table, KeyOrder key_order, int change);
  void set_count(int database, uint64_t count);
  // An expired record was read from the store, and it is unknown whether a counter still includes
  // it.
  void note_unseen_expiry() { expired_unseen_ = true; }
  // Called after a write-back, with the number of records that the filter has dropped since start.
  // If there are more than before, or an expiry was unseen, counters become doubtful.
  void note_dropped(uint64_t records_dropped);
  CountInProgress& count_in_progress() { return count_in_progress_; }
  // While counts are told, they are those of the records that are applied, and nothing that happens
  // here changes them. Afterwards every count is doubtful.
  void tell_counts(bool told);
  bool counts_are_told() const { return counts_are_told_; }
  // True if a database's name or counter has changed since settle().
  bool databases_changed() const { return databases_changed_; }
  void mark_all_changed();
  void settle();

  // What memory takes: the tables, and the indexes of the open lists, which count themselves in
  // index_memory().
  size_t bytes() const { return index_memory_.bytes + totals_.bytes; }
  size_t dirty_bytes() const { return totals_.dirty_bytes; }
  IndexMemory* index_memory() { return &index_memory_; }

 private:
  IndexMemory index_memory_;  // first, because the lists that the tables hold give back to it
  Table::Totals totals_;      // of tables_, which count themselves in it
  Tables tables_;
  RetiredTables retired_;
  Databases databases_;
  HashSeed seed_{};
  Generation next_generation_ = 1;
  bool databases_changed_ = false;
  bool counts_are_told_ = false;
  bool expired_unseen_ = false;
  uint64_t dropped_seen_ = 0;
  CountInProgress count_in_progress_;
};

}  // namespace weir::storage
