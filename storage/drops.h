// Lists of elements that no owner names any more, on their way out of memory, log and state.
//
// A list dies in one of two ways. A turn takes its name away: the turn's record says so, and the
// list is buried when the record is in the log. Or its owner expires: nothing is logged at that
// moment. The owner's entry stays as it was, hidden (Entry::kUnburied), until owner and list are
// buried together between two passes; the next turn's record, if one comes first, names the list.
//
// Burying a short list makes its elements ordinary erased records. A long one, or one that is not
// open, waits in `dying` until its entries are out of memory, slice by slice; then the next pass
// erases its range of stored keys.
//
// Invariants
// 1. A pass begins only when nothing is `dying` and nobody waits to be buried: so no pass writes an
//    element of a list whose range it erases, and W never passes the turn that dropped a list whose
//    range is still there.
// 2. A pass that meets an unburied owner writes it as it was: the state must not lose an owner
//    before its elements.
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
  struct List {
    Incarnation incarnation = 0;  // of the elements
    ElementsId id = 0;
    bool operator==(const List&) const = default;
    auto operator<=>(const List&) const = default;
  };

  struct Dying {
    List list;
    bool stored = true;  // a pass may have written some of it
  };

  std::deque<Expired> expired;
  std::deque<Dying> dying;
  Position dying_position = 0;  // how far the first of them is freed; 0: not begun

  // To be erased from the state by the next pass, with the ranges; by the running pass.
  std::vector<List> to_erase;
  StateSlice ranges;
  std::vector<List> erasing;

  // Of expired owners: in no turn's record yet. With a pass that takes them out of the state there
  // is no need to any more.
  std::vector<List> unlogged;
  std::vector<List> unlogged_in_pass;

  // Indexes to be destroyed, slice by slice.
  std::vector<std::unique_ptr<Elements>> closed;
  std::vector<std::unique_ptr<OpenLists>> closed_tables;

  bool lists_wait() const { return !expired.empty() || !dying.empty(); }
  bool indexes_wait() const { return !closed.empty() || !closed_tables.empty(); }

  void erase_range_of(const List& list);
  // The pass has ended: its part is done, or waits for the next.
  void end_pass(bool done);
  // The log may lack any of the turns that dropped what is not erased yet.
  void owe();
};

}  // namespace weir::storage
