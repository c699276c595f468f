// Drops: lists of elements that no owner names any more, on their way out of memory, log and state.
// ARCHITECTURE.md draws the states that owners and lists go through.
//
// A list dies in one of two ways. In the first, a turn takes its name away: it has *vanished*. The
// turn's record says so, and the list is buried once that record is in the log. In the second, its
// owner expires. Nothing is logged at that moment; the owner's entry keeps its value, hidden
// (Entry::kUnburied), until owner and list are buried together between two passes. If a turn
// commits before that, its record names the list.
//
// To *bury* a short list is to make its elements ordinary erased records. A long list, or one that
// is not open, waits in `dying` until its entries have been *freed* from memory, slice by slice;
// the next pass then *erases* its range of stored keys.
//
// Invariants
// 1. A pass begins only when no list is dying and no expired owner waits to be buried. So no pass
//    writes an element of a list whose range it erases, and W never passes the turn that dropped a
//    list whose range is still stored. It holds because begin_pass_when_ready() asks lists_wait(),
//    and because lists are freed, and their ranges queued, only while no pass is running.
// 2. A pass that meets an unburied owner writes it with its value: the state must not lose an owner
//    before its elements. It holds because the entry keeps its value until bury_expired(), which
//    also buries the lists, and collect_segment() writes values of unburied entries.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "storage/elements.h"
#include "storage/open_lists.h"
#include "storage/store.h"

namespace weir::storage {

struct Drops {
  struct Expired {
    Incarnation incarnation = 0;  // of the owner
    Position position = 0;
    std::string key;
    std::vector<ElementsId> ids;
  };
  using List = ListName;

  struct Dying {
    List list;
    bool stored = true;  // a pass may have written some of it
  };

  std::deque<Expired> expired;
  std::deque<Dying> dying;
  Position dying_position = 0;  // how far the first dying list is freed; 0: not begun

  // Lists that the next pass erases from the state, with their ranges; then those of the running
  // pass.
  std::vector<List> to_erase;
  StateSlice ranges;
  std::vector<List> erasing;

  // Lists of expired owners that no turn's record names yet. When a pass has taken such an owner
  // and its lists out of the state, no record needs to name them any more.
  std::vector<List> unlogged;
  std::vector<List> unlogged_in_pass;

  // Indexes that wait to be destroyed, slice by slice.
  std::vector<std::unique_ptr<Elements>> closed;
  std::vector<std::unique_ptr<OpenLists>> closed_tables;

  bool lists_wait() const { return !expired.empty() || !dying.empty(); }
  bool indexes_wait() const { return !closed.empty() || !closed_tables.empty(); }

  void erase_range_of(const List& list);
  // Called when a pass has ended: its part is done, or waits for the next pass.
  void end_pass(bool done);
  // Called when the log may lack any of the turns that dropped a list not erased yet: the next
  // record is to name all such lists again.
  void owe();
};

}  // namespace weir::storage
