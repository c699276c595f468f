// Looks at which lists of elements turns name that another keyspace has made, before anything of
// them is applied.
//
// A list has one header from its first turn on, and nothing says whose a list is but its header's
// record. So each list that a turn names must either have been named before, by a record that the
// turn changes (which then names it no more, or is the same record), or be new. A new one has all
// its elements in this turn.
//
// What cannot be told here, at the price of a turn: whose a list is that only gets or loses
// elements, and whether it has any left. Who reads a collection without elements is answered an
// error (server/types/collection.h), and lists that were dropped under their header harm nobody
// (lists/reclaimer.h).
//
// Invariants
// 1. No list has an id of fresh_from_ or more. It holds because primaries draw ids upwards, each
//    from the bound on that the log has, which is where begin() puts it, and because each id that a
//    turn names raises it.
// 2. An id below it is new only if nothing stands under it, in memory or in the state: so an
//    opening costs a look at the state for each of the 4096 ids at most that a primary had left.
// 3. The work is in proportion to what the turns of the batch change.
#pragma once

#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_hash.h"
#include "storage/format/meaning.h"
#include "storage/keyspace/live_records.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/working_set.h"
#include "storage/store/store_in_use.h"

namespace weir::storage {

class ListNames {
 public:
  ListNames(WorkingSet* set, LiveRecords* records, const TurnInProgress& turn,
            const StoreInUse& store)
      : set_(*set), records_(*records), turn_(turn), store_(store) {}

  // From `bound` on no id was drawn.
  void begin(ElementsId bound) { fresh_from_ = bound; }

  // Turns that are applied together, or not at all. end_batch() says that they were.
  void begin_batch();
  void end_batch() { fresh_from_ = fresh_in_batch_; }

  // One turn: its record, then the parts of it, then its end. What is refused names the fault. The
  // views live as long as the batch.
  void begin_turn(std::string_view record);
  void add_record(const TurnEntry& entry);
  void add_header(const TurnEntry& entry, const HeaderView& header, const RecordMeaning& meaning);
  void add_element(const TurnEntry& entry, ElementsId id, std::string_view member);
  void add_drop(const ListName& list) { dropped_.push_back(list); }
  Status end_turn();

 private:
  struct Named {
    ListName list;
    const TurnEntry* header = nullptr;  // set by end_turn()
    size_t record = 0;                  // of the turn
    const ElementRule* rule = nullptr;
    bool may_be_empty = true;
    bool is_new = false;
    bool has_elements = false;
  };
  struct Had {
    ListName list;
    Type type = Type::kNone;
    bool operator==(const Had&) const = default;
    auto operator<=>(const Had&) const = default;
  };
  struct Element {
    ListName list;
    std::string_view member;
    std::string_view payload;
  };
  struct RecordName {
    Generation generation = 0;
    std::string_view key;
    bool operator==(const RecordName&) const = default;
  };
  struct RecordNameHash {
    size_t operator()(const RecordName& name) const {
      return StringHash()(name.key) ^ name.generation;
    }
  };

  Status judge(Named* named);
  Status judge_elements();
  Status read_before(const TurnEntry& entry, ValueView* before);
  Status had_it(const TurnEntry& entry, const Had& sought, bool* had);
  Status collect_had();
  bool stands_under(const ListName& list, Status* status) const;
  void overlay_earlier_turns();
  Named* find_named(const ListName& list);

  WorkingSet& set_;
  LiveRecords& records_;
  const TurnInProgress& turn_;
  const StoreInUse& store_;

  ElementsId fresh_from_ = 1;
  // Of the batch.
  ElementsId fresh_in_batch_ = 1;
  std::vector<std::string_view> turns_;  // looked at so far
  size_t overlaid_ = 0;                  // how many of them `overlay_` has
  std::unordered_map<RecordName, TurnEntry, RecordNameHash> overlay_;
  std::set<ListName> taken_;  // new lists below fresh_from_
  // Of the turn.
  std::vector<TurnEntry> changed_;
  std::vector<Named> named_;
  std::vector<Element> elements_;
  std::vector<ListName> dropped_;
  std::vector<Had> had_;  // what its records named before; sorted
  bool had_is_known_ = false;
};

}  // namespace weir::storage
