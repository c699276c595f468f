// What a table of elements keeps of an open list: an order-statistics tree over its entries, and
// how far the list's opening has come (lists/list_opening.h). For storage alone: who uses a list
// sees Elements.
//
// Invariants
// 1. The index of a list that is open has a node for each element that is present. It holds because
//    the code that changes an element of an open list takes the entry out before and puts it in
//    after.
// 2. The indexes of all lists count in one place what they take, from birth to the last node,
//    because each is given the place (index_memory.h) in its constructor and its nodes add and
//    subtract there.
#pragma once

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "storage/format/codec.h"
#include "storage/format/element_key.h"
#include "storage/memtable/entry.h"
#include "storage/memtable/index_memory.h"

namespace weir::storage {

inline uint64_t order_of(const Entry* entry) { return load_u64_be(entry->value_data()); }

// The order is kept here too, so that a comparison seldom looks at the entry.
struct ElementNode {
  uint64_t order;
  Entry* entry;
};

struct ElementRank {
  uint64_t order;
  std::string_view member;
};

struct ElementBefore {
  bool operator()(const ElementNode& a, const ElementNode& b) const {
    return a.order != b.order ? a.order < b.order : a.entry->key() < b.entry->key();
  }
  bool operator()(const ElementNode& a, const ElementRank& b) const {
    return a.order != b.order ? a.order < b.order : a.entry->key() < b.member;
  }
  bool operator()(const ElementRank& a, const ElementNode& b) const {
    return a.order != b.order ? a.order < b.order : a.member < b.entry->key();
  }
};

// Under which id a list was made, and how many write-backs had begun by then.
struct ListBirth {
  ElementsId id = 0;
  uint64_t write_backs = 0;
};

class ElementsIndex {
 public:
  using Nodes = boost::multi_index::multi_index_container<
      ElementNode,
      boost::multi_index::indexed_by<boost::multi_index::ranked_unique<
          boost::multi_index::identity<ElementNode>, ElementBefore>>,
      NodeAllocator<ElementNode>>;

  // An opening takes first the entries in memory, up to a key order; then what only the state has,
  // up to a stored key.
  struct Opening {
    KeyOrder key_order;
    bool memory_done = false;
    std::string stored_key{};  // empty: begin at the first
  };

  // The index of a list without elements: it is open, and has no header yet. Write-backs begun by
  // its birth have stored nothing of it. Its nodes come from `memory`, and are counted there.
  ElementsIndex(ListBirth birth, IndexMemory* memory)
      : birth_(birth), memory_(*memory), nodes_(NodeAllocator<ElementNode>(memory)) {}
  ~ElementsIndex() { memory_.bytes -= nodes_.size() * kNodeBytes; }
  ElementsIndex(const ElementsIndex&) = delete;
  ElementsIndex& operator=(const ElementsIndex&) = delete;

  ElementsId id() const { return birth_.id; }
  uint64_t write_backs_at_birth() const { return birth_.write_backs; }
  size_t size() const { return nodes_.size(); }
  const Nodes& nodes() const { return nodes_; }
  bool whole() const { return opening == nullptr; }
  // True if an entry at this place belongs here already: the list is open, or its opening has
  // looked at the entries of this place. An opening that reads the state takes no entry from there
  // that is in memory, so it has looked at them all.
  bool reaches(KeyOrder key_order) const {
    return whole() || opening->memory_done || key_order < opening->key_order;
  }

  void take_out(const Entry* entry) {
    const auto node = nodes_.find(ElementRank{order_of(entry), entry->key()});
    WEIR_CHECK(node != nodes_.end());
    erase(node);
  }
  void put_in(Entry* entry) {
    const ElementNode node{order_of(entry), entry};
    const bool first = !nodes_.empty() && ElementBefore()(node, *nodes_.begin());
    nodes_.insert(first ? nodes_.begin() : nodes_.end(), node);
    memory_.bytes += kNodeBytes;
  }
  Nodes::iterator erase(Nodes::iterator node) {
    memory_.bytes -= kNodeBytes;
    return nodes_.erase(node);
  }
  // Destroys up to `nodes` nodes; false when there are none left.
  bool shrink(size_t nodes) {
    for (; nodes > 0 && !nodes_.empty(); --nodes) erase(nodes_.begin());
    return !nodes_.empty();
  }

  std::unique_ptr<Opening> opening;  // null once it is open
  // When a list that was opened in several slices was last used; 0 for lists opened in one slice.
  int64_t long_used_ms = 0;

 private:
  static constexpr size_t kNodeBytes = IndexMemory::kNodeBytes + 8;  // with the allocator's

  const ListBirth birth_;
  IndexMemory& memory_;
  Nodes nodes_;
};

}  // namespace weir::storage
