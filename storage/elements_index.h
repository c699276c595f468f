// The index of an open list: an order-statistics tree over its entries, and how far the list's
// opening has come (list_opening.h). For elements.cc and the keyspace.
#pragma once

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "storage/elements.h"

namespace weir::storage {

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

struct Elements::Index {
  using Nodes = boost::multi_index::multi_index_container<
      ElementNode, boost::multi_index::indexed_by<boost::multi_index::ranked_unique<
                       boost::multi_index::identity<ElementNode>, ElementBefore>>>;

  // An opening takes first the entries in memory, up to a position; then what only the state has,
  // up to a stored key.
  struct Opening {
    Position position;
    bool memory_done = false;
    std::string stored_key{};  // empty: begin at the first
  };

  Nodes nodes;
  std::unique_ptr<Opening> opening;  // null once it is open
  // When a list that was opened in several slices was last used; 0 for lists opened in one slice.
  int64_t long_used_ms = 0;
};

}  // namespace weir::storage
