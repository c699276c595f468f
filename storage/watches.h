// Keys whose changes somebody wants to know of: what WATCH stands on.
//
// A watch is made of what a key holds at one moment. From then on the keyspace reports each entry
// it is about to change, and the watches it belongs to remember that they were touched. Nothing is
// looked up: an entry of a list of elements is known by the list's id, which the key's own record
// named when the watch was made; a key that gets other lists has its record changed.
//
// Invariants
// 1. A touched watch stays touched.
// 2. A change that is taken back later touches too: a transaction refused for nothing is tried
// again, one let through for nothing is wrong for ever.
// 3. Where nobody watches, a change costs one comparison (empty()).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/element_key.h"
#include "storage/position.h"

namespace weir::storage {

using WatchId = uint64_t;

// What a watched key was when its watch was made.
struct Watched {
  int database = 0;
  Position position = 0;
  std::string key;
  bool existed = false;
  int64_t expire_at_ms = 0;       // 0: never
  std::vector<ElementsId> lists;  // that its record names
  bool touched = false;
};

class Watches {
 public:
  bool empty() const { return watches_.empty(); }
  WatchId add(Watched watched);
  void remove(WatchId id);
  // REQUIRES: added and not removed.
  const Watched& at(WatchId id) const { return watches_.at(id); }

  void record_changes(int database, Position position, std::string_view key);
  void element_changes(ElementsId list);
  void touch(WatchId id) { watches_.at(id).touched = true; }
  void touch_all();
  // Those of one database that are not touched yet.
  std::vector<WatchId> untouched(int database) const;

 private:
  WatchId next_ = 1;
  std::unordered_map<WatchId, Watched> watches_;
  std::unordered_multimap<Position, WatchId> by_position_;
  std::unordered_multimap<ElementsId, WatchId> by_list_;
};

}  // namespace weir::storage
