// A list of elements: what a hash, list, set or sorted set is made of, or a limiter's log. Each
// element is a record of its own, so that changing one costs one in the log and in the state,
// however many there are. What is given up is compactness: a member takes a key of about twelve
// bytes besides itself, and there are no packed forms of small collections.
//
// An element has a member (bytes, unique in its list), an order (64 bits; elements are ranked by
// (order, member), members as bytes) and a value (bytes). What the order means is the type's
// choice: order_of_double(score) in a sorted set, the instant in a limiter's log, a place between
// its neighbours' in a list, the turn in which a field was added in a hash.
//
// A list belongs to a *header*: a record of a type for which owns_elements(type) is true, whose
// payload begins with the ids of its lists (format/header.h). To make one:
//
//     const ElementsId id = keys.lists().make(database, Layout::kScattered);  // no record: an id
//     std::optional<Elements> list = keys.lists().open(database, id);
//     list->put("member", order_of_double(1.5), "value");
//     std::string payload;
//     append_list_ids(&payload, {{id}});                        // then whatever the type keeps
//     keys.put(&ref, Type::kZset, payload, 0);
//
// To use a list: look up the header, parse_header(ref.value(), &header), lists().open(database,
// header.ids[0]). Nothing has to be done to get rid of it: a list that no header names at the end
// of a turn is dropped, whatever the reason (DEL, SET over it, expiry, an empty database, a command
// that made it and failed). Dropping takes the same time for any size.
//
// Invariants
// 1. At the end of each command at most one header, of the list's own database, names a list.
//    The callers keep to this. Keyspace::rename() and a put() that hands ids from one key to
//    another in one command are allowed; COPY and MOVE need Lists::copy().
// 2. All elements of an open list are in memory. A list is open from its birth, or from the end of
//    its opening, until its header leaves memory: the eviction scan gives up no element of an open
//    list.
// 3. Changes belong to the running command: roll_back(), a failed commit_turn() and a crash treat
//    an element as they treat any record, because each change saves the entry for the same undo
//    log.
// 4. A header may have a list without elements. Whether an empty collection may exist is for the
//    caller to decide: if not, it erases the header.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "storage/format/element_key.h"
#include "storage/format/header.h"
#include "storage/memtable/entry.h"

namespace weir::storage {

class ElementsIndex;
class Table;
class TurnInProgress;

// An element as views into the working set, valid until the next change to the list.
struct Element {
  std::string_view member;
  uint64_t order = 0;
  std::string_view value;
};

// An open list, as a command uses it: a few pointers, which may be copied. Valid until the end of
// the command that opened it.
class Elements {
 public:
  Elements(const HashSeed& seed, TurnInProgress* turn, Table* table, ElementsIndex* index);

  ElementsId id() const { return id_; }
  size_t size() const;
  bool empty() const { return size() == 0; }

  // Constant time.
  std::optional<Element> find(std::string_view member) const;

  // Logarithmic time. Ranks count from 0. REQUIRES: rank < size().
  Element at(size_t rank) const;
  std::optional<size_t> rank_of(std::string_view member) const;
  // How many elements are smaller than (order, member): the rank of the first that is not, which
  // may be size(). With no member: how many have a smaller order.
  size_t lower_bound(uint64_t order, std::string_view member = {}) const;
  // How many have this order or a smaller one.
  size_t upper_bound(uint64_t order) const;

  // Visits elements from a rank on, upwards or downwards, until `visit` answers false or there are
  // no more. A rank of size() or more visits nothing upwards, and begins with the last downwards.
  // `visit` must not change the list. They answer how many were visited.
  using Visit = std::function<bool(const Element&)>;
  size_t walk(size_t first_rank, const Visit& visit) const;
  size_t walk_back(size_t first_rank, const Visit& visit) const;

  // Visits elements in an order that changes cannot disturb: from `cursor` on until `count` were
  // visited or there are no more. Answers the cursor to go on from, 0 at the end. An element that
  // is in the list during the whole of a round is visited exactly once. The cursor outlives
  // eviction and restarts.
  uint64_t scan(uint64_t cursor, size_t count,
                const std::function<void(const Element&)>& visit) const;

  // Puts an element or replaces it; true if there was none. The views may point into this list.
  bool put(std::string_view member, uint64_t order, std::string_view value);
  // Puts an element if there is none with this member; true if it did.
  bool add(std::string_view member, uint64_t order, std::string_view value);
  // Erases an element; true if there was one. The view may point into this list.
  bool erase(std::string_view member);
  // Erases `count` elements from a rank on. REQUIRES: there are as many.
  void erase_ranks(size_t first_rank, size_t count);

 private:
  KeyOrder key_order_of(std::string_view member) const;
  Entry* find_entry(std::string_view member) const;
  bool set(std::string_view member, uint64_t order, std::string_view value, bool if_absent);
  void take_value(Entry* entry);

  const HashSeed* seed_;
  TurnInProgress* turn_;
  Table* table_;
  ElementsIndex* index_;
  ElementsId id_;
};

}  // namespace weir::storage
