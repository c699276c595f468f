// Reclaiming: how lists of elements and whole generations leave memory, log and state. One class
// holds all of it, and a list's state is which of its containers names it.
//
// A list dies in one of two ways. In the first, a turn takes its name away: it has *vanished*. The
// turn's record says so, and the list is reclaimed once that record is in the log. In the second,
// its header expires. Nothing is logged at that moment; the header's entry keeps its value, hidden
// (Entry::kUnreclaimed), until header and list are reclaimed together between two write-backs. If a
// turn commits before that, its record names the list.
//
//     a turn takes its name: vanished_                its header expires: expired_ and unlogged_
//                     |                                               |
//     the turn's record is in the log               between write-backs, reclaim_expired()
//                     |                                               |
//                     +----------------> reclaim() <------------------+
//                                           |
//              short, and open whole        |        long, or not open whole
//                     +---------------------+---------------------+
//                     v                                           v
//     its elements are erased records                     reclaimable_
//                     |                                           |
//     the next write-back writes deletions          between write-backs, free_reclaimable()
//                     |                                           |
//                     |          +--- nothing of it is stored ----+
//                     v          v                                v
//                    gone <------+                       erasable_, ranges_ <----------+
//                     ^                                           |                    |
//                     |                          a write-back begins: erasing_         |
//                     |                                           |                    |
//                     +-------------------- it is written --------+--- or it failed ---+
//
// To *reclaim* a short list is to make its elements ordinary erased records. A long list, or one
// that is not open, waits until its entries have been *freed* from memory, slice by slice; the next
// write-back then *erases* its range of stored keys. The index of a long list waits in closed_ to
// be destroyed in slices, too.
//
// A generation that no database names goes straight to dropped_, and with the next write-back to
// dropping_: its table is not walked any more, so nothing has to be freed one by one.
//
// Invariants
// 1. A write-back begins only when no list waits in reclaimable_ and no expired header waits to be
//    reclaimed. So no write-back writes an element of a list whose range it erases, and the
//    written-back turn never passes the one that dropped a list whose range is still stored. It
//    holds because WriteBackSchedule asks lists_wait() before it begins a write-back, and because
//    lists are freed, and their ranges queued, only while no write-back is running.
// 2. A write-back that meets an unreclaimed header writes it with its value: the state must not
//    lose a header before its elements. It holds because the entry keeps its value until
//    reclaim_expired(), which also reclaims the lists, and collect_segment() writes values of
//    unreclaimed entries.
// 3. No turn is committed whose record lacks a list that died before it, unless a write-back has
//    erased the list with its header. It holds because unlogged_ goes into each record, and leaves
//    it only when a record is in the log or when the write-back that took the header has ended.
// 4. No index points to an entry that is freed. It holds because reclaim() takes the index of a
//    list that is open, and free_some() that of one which was opened since: a header is left
//    without its list where a shared log holds turns that no primary has made.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/format/header.h"
#include "storage/memtable/working_set.h"
#include "storage/memtable/write_back.h"
#include "storage/store/store.h"

namespace weir::storage {

class ElementsIndex;
class OpenLists;
class TurnInProgress;

class Reclaimer {
 public:
  Reclaimer(WorkingSet* set, WriteBack* write_back);
  ~Reclaimer();

  // What dies.
  // A header has expired; its entry holds its value and is not present any more.
  void note_expired(Table* table, Entry* entry, const HeaderView& header);
  // Finds the vanished lists: those that had a name before or during the turn, or were made in it,
  // and have no name at its end. Only names before and after are compared, so the result is right
  // whatever the commands did.
  void find_vanished(const TurnInProgress& turn);
  // The same for a turn that was not made here: the names that it took away, those that it gave,
  // and then what lost its name by that.
  void note_had_name(const ListName& list) { had_name_.push_back(list); }
  void note_had_names(Generation headers, std::string_view payload);
  void note_have_names(Generation headers, std::string_view payload);
  void compare_names();
  void forget_vanished() { vanished_.clear(); }
  // Reclaims them. REQUIRES: the turn's record is in the log, or the log is owed it.
  void reclaim_vanished();
  void reclaim(const ListName& list);
  // A generation has lost its database; `table` was its table.
  void drop(Table* table);
  // What opening found in the state of a generation that no database names.
  void drop_stored(Generation generation);

  // What a turn's record says of it.
  template <typename Visit>
  void for_each_unlogged(Visit visit) const {
    for (const auto* lists : {&unlogged_, &unlogged_in_write_back_, &vanished_}) {
      for (const ListName& list : *lists) visit(list);
    }
  }
  // The turn's record is in the log.
  void note_logged();
  // The log may lack any of the turns that dropped a list not erased yet: the next record is to
  // name all such lists again.
  void owe();

  // Closes a header's lists when the header leaves memory, so that its elements can follow.
  void close_lists(Table* table, const Entry* header);
  // Destroys the index of a list that is not open any more, later.
  void close(std::unique_ptr<ElementsIndex> list);

  // The work. Lists wait for reclaim_some(), indexes for shrink_closed().
  bool lists_wait() const { return !expired_.empty() || !reclaimable_.empty(); }
  bool indexes_wait() const { return !closed_.empty() || !closed_tables_.empty(); }
  // Reclaims expired headers, or frees entries of reclaimable lists, with about `units` work units;
  // answers how many it took. REQUIRES: no write-back is running, because a write-back points to
  // entries; no turn is in progress.
  size_t reclaim_some(size_t units);
  size_t shrink_closed(size_t units);

  // A write-back. What waits to be erased from the state goes with it. REQUIRES: !lists_wait().
  StateSlice begin_write_back();
  // Its part is done, or waits for the next write-back.
  void end_write_back(bool done);
  // True if a write-back has something to erase.
  bool wants_write_back() const { return !dropped_.empty() || !erasable_.empty(); }
  // How many write-backs had begun that can have stored something of a list that is made now. A
  // write-back that is running may still come to the list, so it counts as one after its birth.
  uint64_t write_backs_at_birth() const {
    return write_back_.running() ? write_backs_begun_ - 1 : write_backs_begun_;
  }

  // Forgets everything, when the working set is forgotten.
  void forget();

 private:
  struct Expired {
    Generation generation = 0;  // of the header
    KeyOrder key_order = 0;
    std::string key;
    std::vector<ElementsId> ids;
  };
  struct Reclaimable {
    ListName list;
    bool stored = true;  // a write-back may have written some of it
  };

  void reclaim_short(Table* table, const ElementsIndex& list);
  size_t reclaim_expired(size_t units);
  void reclaim_header(Table* headers, Entry* entry);
  size_t free_reclaimable(size_t units);
  bool free_some(Table* table, ElementsId id, size_t units, size_t* spent);
  void erase_range_of(const ListName& list);
  void mark_dirty(Table* table, Entry* entry);

  WorkingSet& set_;
  WriteBack& write_back_;

  std::vector<ListName> vanished_;
  std::vector<ListName> had_name_, have_name_;  // until compare_names()
  std::deque<Expired> expired_;
  // Lists of expired headers that no turn's record names yet. When a write-back has taken such a
  // header and its lists out of the state, no record needs to name them any more.
  std::vector<ListName> unlogged_;
  std::vector<ListName> unlogged_in_write_back_;
  std::deque<Reclaimable> reclaimable_;
  KeyOrder reclaimable_key_order_ = 0;  // how far the first reclaimable list is freed; 0: not begun
  std::vector<Entry*> freed_;           // while a slice is freed

  // Lists that the next write-back erases from the state, with their ranges; then those of the
  // running write-back.
  std::vector<ListName> erasable_;
  StateSlice ranges_;
  std::vector<ListName> erasing_;
  // Generations, likewise.
  std::vector<Generation> dropped_;
  std::vector<Generation> dropping_;
  uint64_t write_backs_begun_ = 0;

  // Indexes that wait to be destroyed, slice by slice.
  std::vector<std::unique_ptr<ElementsIndex>> closed_;
  std::vector<std::unique_ptr<OpenLists>> closed_tables_;
};

}  // namespace weir::storage
