// Watches on keys, on which WATCH is built.
//
// A watch is made of what a key holds at one moment. From then on the keyspace reports each entry
// that it is about to change, and the watches which the entry belongs to remember that they were
// touched. Nothing is looked up: an entry of a list of elements is known by the list's id, which
// the key's own record named when the watch was made; a key that gets other lists has its record
// changed. So a watch is exact for every command, scripts and limiters included, and none of them
// knows of it.
//
// Invariants
// 1. A touched watch stays touched: nothing sets `touched` back.
// 2. A change that is taken back later touches its watches too. A transaction refused without need
//    is tried again; one let through wrongly would stay wrong. Taking it back touches those that
//    were made meanwhile.
// 3. While no key is watched, a change costs one comparison: the keyspace asks empty() first.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/format/element_key.h"
#include "storage/format/key_order.h"
#include "storage/memtable/ref.h"

namespace weir::storage {

using WatchId = uint64_t;

// What a watched key was when its watch was made.
struct Watched {
  int database = 0;
  KeyOrder key_order = 0;
  std::string key;
  bool existed = false;
  int64_t expire_at_ms = 0;       // 0: never
  std::vector<ElementsId> lists;  // the lists that its record names
  bool touched = false;
  std::shared_ptr<bool> any_touched;  // may be null

  void touch() {
    touched = true;
    if (any_touched != nullptr) *any_touched = true;
  }
};

class Watches {
 public:
  bool empty() const { return watches_.empty(); }
  // Watches a key, whose changes are reported from now on. Watches that share an `any_touched` set
  // it with the first change of any of their keys, so that a session with thousands of them need
  // not ask each. To be called by TurnInProgress::watch(), which has the command tell.
  WatchId add(const Ref& ref, std::shared_ptr<bool> any_touched = nullptr);
  void remove(WatchId id);
  // True if what the key holds has changed since, or its time has ended.
  bool changed(WatchId id, int64_t now_ms) const;
  // Answers how much memory a watch takes. REQUIRES: it was added and not removed.
  size_t memory_bytes(WatchId id) const;
  // What one on this key would take that names no lists.
  static size_t memory_bytes(const std::string& key);
  // The watch with this id. REQUIRES: it was added and not removed.
  const Watched& at(WatchId id) const { return watches_.at(id); }

  void record_changes(int database, KeyOrder key_order, std::string_view key);
  void element_changes(ElementsId list);
  void touch(WatchId id) { watches_.at(id).touch(); }
  void touch_all();
  // The watches of one database that are not touched yet.
  std::vector<WatchId> untouched(int database) const;

 private:
  using ById = std::unordered_map<WatchId, Watched>;
  using ByKeyOrder = std::unordered_multimap<KeyOrder, WatchId>;
  using ByList = std::unordered_multimap<ElementsId, WatchId>;

  WatchId next_ = 1;
  ById watches_;
  ByKeyOrder by_key_order_;
  ByList by_list_;
};

}  // namespace weir::storage
