// What an open list has beside its entries: an order-statistics tree over them, and how far it is
// where it is being opened (opening.h). For elements.cc and the keyspace.
#pragma once

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "storage/elements.h"

namespace weir::storage {

// The order stands here too, so that comparing seldom looks at the entry.
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

  // First what is in memory is taken, up to a position; then what only the state has, up to a key.
  struct Opening {
    Position position;
    bool memory_done = false;
    std::string stored_key{};  // empty: from the first
  };

  Nodes nodes;
  std::unique_ptr<Opening> opening;  // null once it is open
  // Of a list that took more than one slice: when it was last asked for. 0 of any other.
  int64_t long_used_ms = 0;
};

}  // namespace weir::storage
