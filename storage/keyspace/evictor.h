// Takes memory back: a round over all tables, like the hand of a clock, that removes expired
// records and gives up clean ones while memory is short. The round is called the eviction scan. To
// give an entry up is to evict it: its record stays in the state.
//
// Invariants
// 1. Only clean entries are given up: the state has their last value, and nothing else of the
//    keyspace points to them. It holds because scan_entry() asks Entry::clean() first.
// 2. No element of an open list is given up, because the list's index points to it. A header takes
//    its lists out of the open ones when it leaves, and its elements follow in a later round.
// 3. A piece is bounded by its work units, so that the loop is never held.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/keyspace/live_records.h"
#include "storage/lists/reclaimer.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/working_set.h"
#include "storage/store/keyspace_options.h"

namespace weir::storage {

class Evictor {
 public:
  Evictor(WorkingSet* set, LiveRecords* records, Reclaimer* reclaimer, const TurnInProgress& turn,
          const KeyspaceOptions& options)
      : set_(*set), records_(*records), reclaimer_(*reclaimer), turn_(turn), options_(options) {}

  // An eviction scan is owed when it is time for one, or memory is short, and after it what the
  // store tells of; a part of the recount when it is time for that, however short memory is.
  void begin_round(int64_t steady_ns);
  // Scans with about `units` work units, if that is owed. False: it is not.
  bool scan_piece(size_t units);
  // The same for the recount, and for the expired headers that the store tells of.
  bool recount_piece(Store* store);
  bool headers_piece(Store* store);
  // True while memory is short and the last scan found something to give up.
  bool wants_work() const { return (gained_ || owed_units_ > 0) && memory_is_short(); }
  void set_active_expiry(bool on) { active_expiry_ = on; }
  uint64_t evicted() const { return evicted_; }

 private:
  // The list of the element looked at last, and whether it is open: neighbours share it.
  struct ListSeen {
    ElementsId id = 0;
    bool open = false;
  };

  bool memory_is_short() const { return set_.bytes() > options_.memory_bytes_max; }
  size_t scan(size_t units, bool evict);
  Table* next_table();
  size_t scan_segment(Table* table, Segment* segment, bool evict);
  void scan_entry(Table* table, Entry* entry, bool evict, ListSeen* seen);
  bool stays(const Table* table, const Entry* entry) const;
  void evict(Table* table, Entry* entry);

  WorkingSet& set_;
  LiveRecords& records_;
  Reclaimer& reclaimer_;
  const TurnInProgress& turn_;
  const KeyspaceOptions& options_;
  Generation table_ = 0;  // where the scan goes on
  KeyOrder key_order_ = 0;
  int64_t last_scan_steady_ns_ = 0;
  int64_t last_recount_steady_ns_ = 0;
  size_t owed_units_ = 0;    // of the scan
  size_t owed_records_ = 0;  // of the recount
  size_t owed_headers_ = 0;
  bool gained_ = true;  // the last scan gave up an entry, or made one ready to be given up
  std::vector<Entry*> victims_;
  bool active_expiry_ = true;
  uint64_t evicted_ = 0;
};

}  // namespace weir::storage
